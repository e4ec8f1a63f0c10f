// Installs what `npm run build:docs` needs, where it is missing: the site generator Eleventy, and
// the search that runs in the page. They are 24 MB, so `npm ci` leaves them out.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';

const packages = {
  '@11ty/eleventy': '3.1.8',
  'markdown-it-anchor': '10.0.0',
  minisearch: '7.2.0',
};
const folder = 'node_modules/.cache/docs-site';
const isPresent = ([name, version]) => {
  const manifest = `${folder}/node_modules/${name}/package.json`;
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
};
if (!Object.entries(packages).every(isPresent)) {
  console.error('Installing the generator of the documentation site (once, 24 MB)…');
  mkdirSync(folder, { recursive: true });
  const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  const { status } = spawnSync('npm', ['install', '--prefix', folder, ...options, ...wanted], {
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error('The generator could not be installed; npm says why above.');
    process.exitCode = 1;
  }
}
