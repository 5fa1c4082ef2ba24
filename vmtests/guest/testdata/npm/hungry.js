// Holds as many megabytes outside node's own heap as its argument says.
const want = Number(process.argv[2]);
const held = [];
while (held.length < want) held.push(Buffer.alloc(1 << 20, held.length));
console.log(`held ${held.length} MB`);
