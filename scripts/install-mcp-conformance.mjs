// Installs the suite of `npm run test:mcp-conformance`, where it is missing. It is 52 MB, so
// `npm ci` leaves it out; it has a folder of its own, so that it changes nothing that ktx uses.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';

const version = '0.2.0-alpha.12';
const folder = 'node_modules/.cache/mcp-conformance';
const present = `${folder}/node_modules/@modelcontextprotocol/conformance/package.json`;
if (!existsSync(present) || JSON.parse(readFileSync(present, 'utf8')).version !== version) {
  console.error('Installing the conformance suite of MCP (once, 52 MB)…');
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync(
    'npm',
    [
      'install',
      '--prefix',
      folder,
      '--no-save',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      `@modelcontextprotocol/conformance@${version}`,
    ],
    { stdio: ['ignore', 2, 2], shell: process.platform === 'win32' },
  );
  if (status !== 0) {
    console.error('The suite could not be installed; npm says why above. Its test is skipped.');
  }
}
