#!/usr/bin/env node
// Plain JavaScript that any Node can parse, so that an old one gets a sentence instead of a syntax error.
var version = process.versions.node.split('.').map(Number);
if (version[0] < 24 || (version[0] === 24 && version[1] < 10)) {
  process.stderr.write(
    'ktx needs Node.js 24.10 or newer; this is ' +
      process.versions.node +
      '. Install it from https://nodejs.org or with your version manager.\n',
  );
  process.exitCode = 2;
} else {
  void import('../dist/cli/main.js');
}
