package classifier

// Rule is one rule as people see it.
type Rule struct {
	ID       string   `json:"id"`
	Family   string   `json:"family"`
	Class    Class    `json:"class"`
	Kind     Kind     `json:"-"`
	Programs []string `json:"programs"`
	Source   string   `json:"source"` // "built in: 20-node.toml:12", "/etc/headroom/rules.d/10-mine.toml:7"
	Own      bool     `json:"own"`    // from a file of the owner's
	WeightMB int      `json:"weight_mb,omitempty"`
	Remedy   string   `json:"remedy,omitempty"`
}

// The tables of a rule file, as rules/00-words.toml documents them.
type (
	fileTables struct {
		Families     []string           `toml:"families"`
		Disable      []string           `toml:"disable"`
		CrossWords   []string           `toml:"cross_words"`
		CrossNames   []string           `toml:"cross_names"`
		Pairs        []pairTable        `toml:"pair"`
		Tools        []toolTable        `toml:"tool"`
		Aliases      []aliasTable       `toml:"alias"`
		Carriers     []carrierTable     `toml:"carrier"`
		Interpreters []interpreterTable `toml:"interpreter"`
		Rules        []ruleTable        `toml:"rule"`
	}

	pairTable struct {
		Exe []string `toml:"exe"`
		As  []string `toml:"as"`
	}

	toolTable struct {
		Programs    []string `toml:"programs"`
		Values      []string `toml:"values"`
		NoValues    []string `toml:"no_values"`
		AllValues   bool     `toml:"all_values"`
		Cluster     bool     `toml:"cluster"`
		ShortValues string   `toml:"short_values"`
		OldStyle    bool     `toml:"old_style"`
		Assignments bool     `toml:"assignments"`
		Marks       string   `toml:"marks"`
		Light       []string `toml:"light_flags"`
	}

	aliasTable struct {
		Program string   `toml:"program"`
		Scripts []string `toml:"scripts"`
		Modules []string `toml:"modules"`
		Classes []string `toml:"classes"`
		Code    []string `toml:"code"`
	}

	carrierTable struct {
		Programs    []string `toml:"programs"`
		Subcommands []string `toml:"subcommands"`
		Values      []string `toml:"values"`
		Cluster     bool     `toml:"cluster"`
		ShortValues string   `toml:"short_values"`
		Skip        int      `toml:"skip"`
		Assignments bool     `toml:"assignments"`
		Line        []string `toml:"line"`
		Rest        string   `toml:"rest"`
		After       []string `toml:"after"`
		Until       []string `toml:"until"`
		Nothing     []string `toml:"nothing"`
		As          []string `toml:"as"`
		Captures    bool     `toml:"captures"`
		Appends     bool     `toml:"appends"`
		Where       string   `toml:"where"`
		Kind        []string `toml:"kind"`
	}

	interpreterTable struct {
		Programs    []string `toml:"programs"`
		Language    string   `toml:"language"`
		Values      []string `toml:"values"`
		Cluster     bool     `toml:"cluster"`
		ShortValues string   `toml:"short_values"`
		Code        []string `toml:"code"`
		Module      []string `toml:"module"`
		Jar         []string `toml:"jar"`
		Asks        []string `toml:"asks"`
		Marks       string   `toml:"marks"`
	}

	ruleTable struct {
		ID            string   `toml:"id"`
		Family        string   `toml:"family"`
		Class         string   `toml:"class"`
		Kind          []string `toml:"kind"`
		Programs      []string `toml:"programs"`
		Paths         []string `toml:"paths"`
		Subcommands   []string `toml:"subcommands"`
		Except        []string `toml:"except"`
		Bare          bool     `toml:"bare"`
		Flags         []string `toml:"flags"`
		WithFlags     []string `toml:"with_flags"`
		Operands      []string `toml:"operands"`
		NeedOperand   bool     `toml:"need_operand"`
		Leading       bool     `toml:"leading"`
		NoCommon      bool     `toml:"no_common"`
		LightFlags    []string `toml:"light_flags"`
		LightOperands []string `toml:"light_operands"`
		LightEnv      []string `toml:"light_env"`
		Reason        string   `toml:"reason"`
		WeightMB      int      `toml:"weight_mb"`
		Remedy        string   `toml:"remedy"`
	}
)

var kindWords = map[string]Kind{
	"supervisor":      Supervisor,
	"package-manager": PackageManager,
	"compiler":        Compiler,
	"daemon":          Daemon,
}
