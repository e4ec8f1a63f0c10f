// Makes what a person publishes: node scripts/release.ts --owner <GitHub owner> [--out <folder>].
// Publishes nothing. Refuses while versions are out of step; --write brings the files in step.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  committedChannelFiles,
  registryName,
  releaseFiles,
  type ReleasedPackage,
} from './release/channel-files.ts';

interface Manifest extends ReleasedPackage {
  readonly mcpName?: string;
}

/** What is out of step in the folder of the repository, one line each; empty if nothing is. */
export function outOfStep(root: string, owner: string): readonly string[] {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const manifest = JSON.parse(read('package.json')) as Manifest;
  const { version, mcpName } = manifest;
  const lock = JSON.parse(read('package-lock.json')) as { readonly version: string };
  const stale = [...committedChannelFiles(manifest)]
    .filter(([path, text]) => compact(read(path)) !== compact(text))
    .map(([path]) => `${path} is not what version ${version} needs: --write`);
  const title = `## [${version}]`;
  return [
    ...stale,
    ...(lock.version === version ? [] : [`package-lock.json has version ${lock.version}`]),
    ...(read('CHANGELOG.md').includes(title) ? [] : [`CHANGELOG.md has no ${title}`]),
    ...(mcpName === registryName(owner)
      ? []
      : [`package.json has mcpName ${mcpName ?? '(none)'}, not ${registryName(owner)}`]),
  ];
}

/** Without layout, which is the formatter's. */
const compact = (text: string): string => JSON.stringify(JSON.parse(text));

function main(): void {
  const root = join(import.meta.dirname, '..');
  const { values } = parseArgs({
    options: {
      owner: { type: 'string' },
      out: { type: 'string', default: 'release' },
      write: { type: 'boolean' },
    },
  });
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  if (values.write === true) return writeAll(root, committedChannelFiles(manifest));
  const { owner } = values;
  if (owner === undefined) return refuse(['--owner is missing: who owns the repository on GitHub']);
  const problems = outOfStep(root, owner);
  if (problems.length > 0) return refuse(problems);
  const out = resolve(values.out);
  mkdirSync(out, { recursive: true });
  const printed = execFileSync(
    'npm',
    ['pack', '--json', '--loglevel=error', '--pack-destination', out],
    { cwd: root, encoding: 'utf8' },
  );
  const [{ filename }] = JSON.parse(printed.slice(printed.indexOf('[\n'))) as [
    { readonly filename: string },
  ];
  const sha256 = createHash('sha256')
    .update(readFileSync(join(out, filename)))
    .digest('hex');
  writeAll(out, releaseFiles(manifest, { owner, sha256 }));
  process.stdout.write(`${out}: ${filename}, server.json, ktx.rb. ${nextSteps}\n`);
}

const nextSteps =
  'Next, by a person: npm publish --provenance, mcp-publisher publish, the tap; channels/README.md has the list.';

function writeAll(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

function refuse(problems: readonly string[]): void {
  process.stderr.write(`No release:\n${problems.map((line) => `  ${line}\n`).join('')}`);
  process.exitCode = 1;
}

if (import.meta.main) main();
