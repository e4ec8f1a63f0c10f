import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

/**
 * The import table of ARCHITECTURE: each room, and the rooms that its files may import beside their
 * own.
 */
const foundation = ['lib'];
const store = ['store', ...foundation];
const belowContext = ['semantic', 'sql', ...store];
const belowScan = ['context', 'warehouse', 'llm', ...belowContext];
const belowProject = ['ingest', 'sources', 'scan', 'search', ...belowScan];
const belowTools = ['project', ...belowProject];
const rooms: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  http: foundation,
  store: foundation,
  sql: foundation,
  llm: store,
  warehouse: ['sql', 'http', ...store],
  semantic: ['sql', ...foundation],
  context: belowContext,
  search: ['context', 'llm', 'sql', ...store],
  scan: ['context', 'warehouse', 'sql', 'llm', ...store],
  sources: ['context', 'warehouse', 'http', ...belowContext],
  ingest: ['sources', 'scan', 'search', ...belowScan],
  project: belowProject,
  tools: belowTools,
  mcp: ['tools', 'http', ...belowTools],
  chat: ['tools', ...belowTools],
  eval: ['chat', 'tools', ...belowTools],
  web: ['mcp', 'tools', ...belowTools],
  cli: ['web', 'chat', 'eval', 'mcp', 'tools', ...belowTools],
};

const source = join(import.meta.dirname, '../src');
const files = globSync('**/*.ts', { cwd: source }).map((file) => file.replaceAll('\\', '/'));
const imports = files.flatMap((file) => {
  const text = readFileSync(join(source, file), 'utf8');
  const found = text.matchAll(/(?:\bfrom\s+|\bimport\(\s*|^import\s+)'(\.[^']+)'/gm);
  return [...found].map(([, target = '']) => ({
    file,
    target: relative(source, join(source, dirname(file), target)).replaceAll('\\', '/'),
  }));
});
const roomOf = (file: string) => file.split('/')[0] ?? '';

describe('the rooms of src/', () => {
  test('are those of the table, and the check sees them', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => rooms[room] === undefined)).toEqual([]);
    expect(files.length).toBeGreaterThan(100);
    expect(imports.length).toBeGreaterThan(300);
  });

  test('have at most 15 files in one folder', () => {
    const folders = Map.groupBy(files, (file) => dirname(file));
    const crowded = [...folders].filter(([, inside]) => inside.length > 15);
    expect(crowded.map(([folder, inside]) => `${folder}: ${inside.length}`)).toEqual([]);
  });

  test('import only what the table allows', () => {
    const broken = imports.filter(
      ({ file, target }) =>
        roomOf(file) !== roomOf(target) && !rooms[roomOf(file)]?.includes(roomOf(target)),
    );
    expect(broken).toEqual([]);
  });

  test('give the client of the page nothing but types', () => {
    const client = join(import.meta.dirname, '../web');
    const found = globSync('**/*.{ts,tsx}', { cwd: client }).flatMap((file) => {
      const text = readFileSync(join(client, file), 'utf8');
      const foreign = text.matchAll(
        /^(import (?!type )[^;]*?from '(?:\.\.\/)+src\/[^']+'|.*import\()/gm,
      );
      return [...foreign].map(([line]) => `${file}: ${line}`);
    });
    expect(found).toEqual([]);
  });

  test('reach a secret, a warehouse, a source, a model or a foreign server only where a person was asked', () => {
    // Each of these takes the secrets that only project/trust gives.
    const openers: Readonly<Record<string, readonly string[]>> = {
      openSecrets: ['store/secrets', 'project/trust/trust'],
      openApprovedSecrets: ['project/trust/trust', 'project/trust/typed-approval'],
      approveTyped: [
        'project/trust/typed-approval',
        ...['setup', 'add-source', 'llm-setup', 'embeddings-setup'].map(
          (name) => `project/setup/${name}`,
        ),
      ],
      openWarehouse: ['warehouse/open', 'project/open/open', 'ingest/render/check-model'],
      openConnection: ['project/open/open', 'project/setup/setup'],
      openSource: [
        'sources/registry',
        // Parses the items that a source gave, and fetches nothing.
        'sources/parser-thread',
        'warehouse/drivers/duckdb/driver',
        'project/learn/ingest',
        // Reads the items that the project has, and fetches nothing.
        'project/learn/coverage',
        'project/graph/find-origins',
        'project/setup/add-source',
      ],
      openLlm: ['llm/factory', 'project/open/llm', 'project/setup/llm-setup'],
      openEmbeddings: ['llm/embeddings/open', 'project/open/llm', 'project/setup/embeddings-setup'],
      openServers: ['chat/mcp-client/servers', 'chat/open-agent'],
      connectServer: ['chat/mcp-client/servers', 'chat/mcp-client/connection'],
      openTelemetry: ['chat/telemetry/telemetry', 'chat/open-agent'],
      openSpanExporter: [
        'llm/telemetry/span-exporter',
        'llm/telemetry/run-trace',
        'chat/telemetry/telemetry',
      ],
      openRunTrace: ['llm/telemetry/run-trace', 'project/learn/open-trace'],
    };
    const texts = files.map((file) => ({ file, text: readFileSync(join(source, file), 'utf8') }));
    const users = Object.keys(openers).map((name) => [
      name,
      texts
        .filter(({ text }) => new RegExp(`\\b${name}\\b`).test(text))
        .map(({ file }) => file.replace(/\.ts$/, ''))
        .sort(),
    ]);
    expect(Object.fromEntries(users)).toEqual(
      Object.fromEntries(Object.entries(openers).map(([name, list]) => [name, [...list].sort()])),
    );
  });

  test('keep drivers behind the door of the warehouse', () => {
    const allowed = /^warehouse\/(drivers\/|open\.ts$)/;
    const intoDrivers = imports.filter(
      ({ file, target }) =>
        target.startsWith('warehouse/drivers/') &&
        !target.endsWith('/config.ts') &&
        // It opens nothing, and the door is heavy.
        target !== 'warehouse/drivers/start-engine.ts' &&
        !allowed.test(file),
    );
    expect(intoDrivers).toEqual([]);
    const across = imports.filter(({ file, target }) => {
      const [from, to] = [file, target].map(
        (path) => /^warehouse\/drivers\/([^/]+)\//.exec(path)?.[1],
      );
      return from !== undefined && to !== undefined && from !== to;
    });
    expect(across).toEqual([]);
  });

  test('have each program and thread of theirs in the bundle', () => {
    const bundle = readFileSync(join(source, '../scripts/bundle.mjs'), 'utf8');
    const started = files.flatMap((file) =>
      [
        ...readFileSync(join(source, file), 'utf8').matchAll(
          /new URL\(`([\w-]+)\$\{extname\(import\.meta\.url\)\}`/g,
        ),
      ].map(([, name = '']) => join(dirname(file), name)),
    );
    expect(started.length).toBeGreaterThan(4);
    expect(started.filter((program) => !bundle.includes(`'${program}'`))).toEqual([]);
  });

  test('open files of others through one door', () => {
    const opening =
      /\b(?:readFile(?:Sync)?|open(?:Sync|AsBlob)?|createReadStream|readv?Sync|cp(?:Sync)?|copyFile(?:Sync)?)\b/;
    const found = files.filter((file) => {
      const text = readFileSync(join(source, file), 'utf8');
      const names = [...text.matchAll(/import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g)];
      const isWhole = /from 'node:fs(?:\/promises)?'|(?:import|require)\('node:fs/.test(
        text.replaceAll(/import (?:type )?\{[^}]*\} from 'node:fs(?:\/promises)?';/g, ''),
      );
      return isWhole || names.some(([, list = '']) => opening.test(list));
    });
    expect(found.sort()).toEqual(Object.keys(fileOpeners).sort());
  });
});

/**
 * The modules of src that open files themselves, and why each needs no door. All others use
 * `store/confined-file.ts`.
 */
const fileOpeners: Readonly<Record<string, string>> = {
  'store/confined-file.ts': 'is the door',
  'store/files.ts': 'files that it creates beside those that they replace',
  'mcp/apps/apps.ts': 'files of the package',
  'web/page-files.ts': 'files of the package',
  'store/ownership/private-files.ts': 'creates empty files in .ktx',
  'chat/transcript.ts': 'appends to its own file in .ktx',
  'mcp/audit/append-lines.ts': 'appends to its own file in .ktx, and never through a link',
  'warehouse/drivers/duckdb/files/decode-text.ts': 'regular files that were found in the folder',
  'warehouse/drivers/duckdb/files/zip-members.ts': 'regular files that were found in the folder',
  'store/extras/extra-folders.ts': 'the lists of extras, which ship with ktx',
  'store/extras/install-extra.ts': 'the lists of extras, which ship with ktx',
  'warehouse/database-file.ts': 'the signature of a regular file',
  'warehouse/drivers/sqlite/driver.ts': 'the change counter of the database that is open',
  'llm/claude-code/child/watchdog.ts': 'removes the temporary folder of children',
  'cli/clients/client-file.ts': 'a regular file that a client of this person keeps',
  'cli/demo/demo-folder.ts': 'files of the package',
  'cli/demo/naive-comparison.ts': 'files of the package',
  'cli/demo/pages.ts': 'files of the package',
  'cli/demo/source-facts.ts': 'files of the package',
  'cli/demo/warehouse-file.ts': 'files of the package',
  'eval/bench/bench-report.ts': 'files of the package',
  'eval/report/html-report.ts': 'files of the package',
  'cli/share/share-page.ts': 'files of the package',
  'cli/export/parquet.ts': 'the file that it has just written into a folder of its own',
  'lib/version.ts': 'files of the package',
  'llm/claude-code/managed-settings/read-managed-settings.ts': 'settings of this machine',
  'lib/word-list.ts': 'files of the package',
  'llm/claude-code/program/choose-program.ts': 'two bytes of a program that was found',
  'llm/egress/ledger.ts': 'flushes its own file in .ktx',
  'llm/prompt.ts': 'files of the package',
  'llm/skills.ts': 'files of the package',
  'scan/code-version.ts': 'files of the package',
  'sql/analyzer.ts': 'files of the package',
};
