// A process that starts a child with temporary files, says where they are, and waits for its end.
import { openChildren } from '../../src/llm/claude-code/child/children.ts';

const [base = '', way = ''] = process.argv.slice(2);
const children = openChildren();
const write = `
  const { writeFileSync } = require('node:fs');
  writeFileSync(process.env.CLAUDE_CODE_TMPDIR + '/probe', '');
  console.log(process.env.CLAUDE_CODE_TMPDIR);
  setInterval(() => undefined, 1000);
`;
const { spawned } = children.spawn({
  command: process.execPath,
  args: ['-e', write],
  env: { PATH: process.env['PATH'], TMPDIR: base },
  signal: new AbortController().signal,
});
spawned.stdout?.once('data', (folder: Buffer) => {
  process.stdout.write(folder);
  if (way === 'closes') void children.close();
});
