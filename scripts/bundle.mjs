// Bundles src/ into few files, so that a command reads a handful of them and not hundreds. Names
// stay as they are written, and each part of a file begins with a comment that names its source.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');

/** Programs and threads that run beside ktx. Each is one file that needs no other. */
const programs = [
  'mcp/audit/audit-thread',
  'sources/parser-thread',
  'warehouse/drivers/duckdb/reader-process',
  'warehouse/drivers/mysql/watchdog-process',
  'warehouse/drivers/sqlite/reader-process',
  'warehouse/engine-process/watch-limits',
];

/**
 * Each list is a file with all that its modules import, except what the files before it have.
 * Everything else is split by which commands need it.
 */
const layers = {
  version: ['lib/version'],
  start: ['cli/run'],
  engine: ['cli/likely-engine', 'warehouse/drivers/start-engine'],
  list: ['cli/commands/sl/list'],
  project: ['project/open/open', 'cli/commands/sl/list-datasets'],
  query: [
    'cli/commands/sl/query',
    'project/keys/contradicted-keys',
    'project/keys/key-proofs',
    'semantic/emit/emit',
    'semantic/load/load',
    'semantic/plan/plan',
    'semantic/resolve/row-rules',
    'project/answer/query',
    'warehouse/drivers/sqlite/driver',
    'warehouse/drivers/duckdb/driver',
  ],
  serve: ['mcp/stdio/serve-stdio'],
};

/** Packages whose code is small and read by almost every command. */
const inlined = [
  '@clack/core',
  '@clack/prompts',
  '@commander-js/extra-typings',
  '@duckdb/node-api',
  '@modelcontextprotocol/core',
  '@modelcontextprotocol/server',
  'commander',
  'js-yaml',
  'p-queue',
  'yaml',
  'zod',
];

/** Writes the bundle and the licences of what it contains. */
export async function bundle(outDir) {
  const inputs = [['cli/main'], ...programs.map((program) => [program])];
  const packages = new Set();
  for (const [entry] of inputs) {
    const isProgram = entry !== 'cli/main';
    const built = await rolldown({
      input: { [entry]: join(source, `${entry}.ts`) },
      cwd: root,
      platform: 'node',
      external: (id) => isPackage(id) && !inlined.includes(packageOf(id)),
      preserveEntrySignatures: 'allow-extension',
      checks: { ineffectiveDynamicImport: false },
      plugins: [keepModuleUrls(), fixSourceHashes(), refuseLostFiles()],
      logLevel: 'warn',
    });
    const { output } = await built.write({
      dir: outDir,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
      hashCharacters: 'hex',
      comments: { legal: true, jsdoc: false, annotation: false },
      topLevelVar: true,
      codeSplitting: isProgram
        ? false
        : {
            includeDependenciesRecursively: false,
            groups: [{ name: findLayer(), debugName: 'layers' }],
          },
    });
    for (const { fileName, moduleIds = [] } of output) {
      if (fileName.endsWith('.js')) keepOneByte(join(outDir, fileName));
      for (const id of moduleIds) packages.add(packageFolder(id));
    }
    await built.close();
  }
  writeFileSync(join(outDir, 'THIRD-PARTY-LICENSES.txt'), licences(packages));
}

function isPackage(id) {
  return /^@?[a-z]/i.test(id) && !id.startsWith('node:') && !existsSync(id);
}

function packageOf(id) {
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');
}

function packageFolder(id) {
  const [, path] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.split(sep).join('/')) ?? [];
  return path;
}

/** `import.meta.url` and `.dirname` stay those of the module, wherever the bundle puts its code. */
function keepModuleUrls() {
  return {
    name: 'keep-module-urls',
    transform(code, id) {
      if (!id.startsWith(source) || !/import\.meta\.(url|dirname)/.test(code)) return undefined;
      const path = relative(source, id).split(sep).join('/').replace(/ts$/, 'js');
      const replaced = code
        .replaceAll('import.meta.url', `__urlOf('${path}')`)
        .replaceAll('import.meta.dirname', `__folderOf('${posix.dirname(path)}')`);
      return { code: replaced, map: null };
    },
    renderChunk(code, { fileName }) {
      const from = posix.dirname(fileName);
      const urlOf = (path) => `new URL('${posix.relative(from, path) || '.'}', import.meta.url)`;
      const replaced = code
        .replaceAll(/__urlOf\(["']([^"']+)["']\)/g, (_, path) => `${urlOf(path)}.href`)
        .replaceAll(
          /__folderOf\(["']([^"']+)["']\)/g,
          (_, path) => `import.meta.dirname + '/${posix.relative(from, path) || '.'}'`,
        );
      return { code: replaced, map: null };
    },
  };
}

/** A package that hides what it requires from bundlers finds nothing beside the bundle. */
function refuseLostFiles() {
  return {
    name: 'refuse-lost-files',
    renderChunk(code, { fileName }) {
      const [lost] = /\w*require\w*\(["']\.{1,2}\/[^)]*\)/.exec(code) ?? [];
      if (lost !== undefined)
        throw new Error(`${fileName} has ${lost}: do not bundle that package`);
    },
  };
}

/**
 * Escapes what is not ASCII. One other letter makes Node read, hash and compile the whole file as
 * text of two bytes a letter, which takes twice as long.
 */
function keepOneByte(path) {
  const code = readFileSync(path, 'utf8');
  const [raw] = /String\.raw`[^`]*[^\0-\x7F][^`]*`/.exec(code) ?? [];
  if (raw !== undefined) throw new Error(`${path} has ${raw}: escape its letters`);
  const escaped = code.replaceAll(
    /[^\0-\x7F]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (escaped !== code) writeFileSync(path, escaped);
}

/** What is computed from the sources is computed here: they are not there when the bundle runs. */
function fixSourceHashes() {
  const codeVersion = join(source, 'scan/code-version.ts');
  const packageStamp = join(source, 'store/package-stamp.ts');
  return {
    name: 'fix-source-hashes',
    async load(id) {
      if (id === codeVersion) {
        const value = JSON.stringify((await import(codeVersion)).codeVersion);
        return `export const codeVersion = ${value};`;
      }
      if (id !== packageStamp) return undefined;
      const value = JSON.stringify(hashSources());
      return `export const readPackageStamp = () => ${value};`;
    },
  };
}

/** Of everything that the stamp of a clone is made of, with its version. */
function hashSources() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package.json')));
  for (const folder of ['src', 'prompts'])
    for (const path of readdirSync(join(root, folder), { recursive: true }).toSorted(byName)) {
      const file = join(root, folder, path);
      if (statSync(file).isFile()) hash.update(`\0${path}\0`).update(readFileSync(file));
    }
  return hash.digest('hex').slice(0, 32);
}

function findLayer() {
  let layerOf;
  return (id, context) => {
    layerOf ??= assignLayers((module) => context.getModuleInfo(module));
    return layerOf.get(id) ?? null;
  };
}

function assignLayers(getModuleInfo) {
  const layerOf = new Map();
  for (const [layer, entries] of Object.entries(layers)) {
    const waiting = entries.map((entry) => join(source, `${entry}.ts`));
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const info = getModuleInfo(id);
      if (layerOf.has(id) || !info || info.isEntry) continue;
      layerOf.set(id, layer);
      waiting.push(...info.importedIds);
    }
  }
  return layerOf;
}

const byName = (a, b) => (a < b ? -1 : 1);

function licences(packages) {
  const texts = [...packages]
    .filter((folder) => folder !== undefined)
    .toSorted(byName)
    .map((folder) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(folder, 'package.json'), 'utf8'),
      );
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
      return `${name} ${version} (${license})\n\n${text}\n`;
    });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
