// A server that has nothing to do, as one that waits for the next save.
require('http').createServer((q, r) => r.end()).listen(0, '127.0.0.1', () => console.log('listening'));
