import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from '@commander-js/extra-typings';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { attachCommand, buildProgram } from '../src/cli/program.ts';
import { groups, registry } from '../src/cli/registry.ts';
import { agentSchema } from '../src/project/agents/agent-schema.ts';
import { projectConfigSchema } from '../src/project/open/config.ts';
import { parseGoldSet } from '../src/eval/bench/retrieval/gold-set.ts';
import { questionSetSchema } from '../src/eval/cases/question-set-schema.ts';
import { datasetSchema } from '../src/semantic/model/dataset.ts';
import { readMenu, readPages } from '../scripts/site/read-pages.ts';
import { querySchema } from '../src/semantic/query/query.ts';
import { savedQuerySchema } from '../src/semantic/query/saved-query.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root })
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

interface Block {
  readonly path: string;
  readonly language: string;
  readonly text: string;
}

const blocks: readonly Block[] = pages.flatMap(({ path, text }) =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', body = '']) => ({
    path,
    language,
    text: body,
  })),
);

function schemaOf(value: Readonly<Record<string, unknown>>) {
  if (['connections', 'llm', 'ingest', 'authority', 'serve'].some((key) => key in value))
    return projectConfigSchema;
  if ('cases' in value) return questionSetSchema;
  if ('instructions' in value || 'mcp_servers' in value) return agentSchema;
  if ('query' in value) return savedQuerySchema;
  return 'dimensions' in value ? querySchema : datasetSchema;
}

function headings(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Command lines as a reader would type them: in shell blocks, and in code within a sentence. */
function commandLines(): { path: string; line: string }[] {
  const shell = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ path, text }) =>
      text.split('\n').map((line) => ({ path, line: line.replace(/\s+#.*$/, '').trim() })),
    );
  const inline = pages.flatMap(({ path, text }) =>
    [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, line = '']) => ({
      path,
      line,
    })),
  );
  return [...shell, ...inline]
    .map(({ path, line }) => ({ path, line: line.replace(/^npm run (?:-s )?ktx -- /, 'ktx ') }))
    .filter(({ line }) => /^ktx [a-z-]/.test(line));
}

/** `command` has the flags of its module. */
async function commandOf(line: string): Promise<{ path: string; command: Command } | undefined> {
  const words = line.split(/\s+/).slice(1);
  const entry = registry.find(
    ({ path }) => path === words.slice(0, path.split(' ').length).join(' '),
  );
  if (entry === undefined) return undefined;
  const program = buildProgram(() => undefined);
  return { path: entry.path, command: await attachCommand(program, entry, async () => undefined) };
}

describe('the documentation', () => {
  it('is there', () => {
    expect(pages.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'README.md',
        'ARCHITECTURE.md',
        'CONTRIBUTING.md',
        'GLOSSARY.md',
        'docs/README.md',
      ]),
    );
    expect(commandLines().length).toBeGreaterThan(30);
  });

  it.each(pages)('$path links to what exists', ({ path, text }) => {
    const prose = text.replaceAll(/^```.*?^```$/gms, '');
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? join(root, path) : join(root, dirname(path), file);
      if (!existsSync(target)) return true;
      return anchor !== undefined && !headings(readFileSync(target, 'utf8')).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('mentions only commands and flags that exist', async () => {
    const unknown: string[] = [];
    for (const { path, line } of commandLines()) {
      if (/^ktx [<-]/.test(line) || groups[line.replace(/^ktx /, '')] !== undefined) continue;
      const found = await commandOf(line);
      const known = found?.command.options.flatMap(({ long, short }) => [long, short]) ?? [];
      const global = [
        '--json',
        '--project-dir',
        '--role',
        '--quiet',
        '-q',
        '--debug',
        '--no-color',
        '--help',
      ];
      const flags = line.replaceAll(/"[^"]*"/g, '""').match(/(?<=\s)--?[a-z][a-z-]*/g) ?? [];
      const strange = flags.filter((flag) => ![...known, ...global].includes(flag));
      if (found === undefined || strange.length > 0)
        unknown.push(`${path}: ${line} ${strange.join(' ')}`.trim());
    }
    expect(unknown).toEqual([]);
  });

  it('shows configuration, agents, datasets and queries that the schemas accept', () => {
    const wrong = blocks
      .filter(({ language }) => language === 'yaml')
      .flatMap(({ path, text }) => {
        const value = load(text) as Record<string, unknown>;
        if ('questions' in value) return [];
        const schema = schemaOf(value);
        const whole =
          schema === datasetSchema && !('dataset' in value)
            ? { dataset: 'fragment', ...value }
            : value;
        const parsed = schema.safeParse(whole);
        return parsed.success ? [] : [`${path}: ${text.split('\n')[0]}: ${parsed.error.message}`];
      });
    expect(wrong).toEqual([]);
  });

  it('shows gold sets that can be read', async () => {
    const sets = blocks.filter(({ text }) => text.startsWith('questions:'));
    const read = await Promise.all(sets.map(({ path, text }) => parseGoldSet(path, text)));
    expect(read.flatMap(({ questions }) => questions).length).toBeGreaterThan(0);
  });

  it('is a site in which each page has its place and no address is taken twice', () => {
    const site = readPages(root);
    const menu = readMenu(site).flatMap((group) => group.pages.map(({ address }) => address));
    expect(new Set(menu).size).toBe(site.length);
    expect(menu).toEqual(
      expect.arrayContaining(['index.html', 'warehouses/postgres.html', 'sources/dbt.html']),
    );
  });

  it('names every command somewhere', () => {
    const text = pages
      .filter(({ path }) => !path.startsWith(join('docs', 'reference')))
      .map((page) => page.text)
      .join('\n');
    expect(
      registry.map(({ path }) => path).filter((path) => !text.includes(`ktx ${path}`)),
    ).toEqual([]);
  });

  it('says of each room of src what it is', () => {
    const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const rooms = globSync('src/*/', { cwd: root }).map((folder) => relative('src', folder));
    expect(rooms.length).toBeGreaterThan(10);
    expect(rooms.filter((room) => !architecture.includes(`| \`${room}/\` |`))).toEqual([]);
  });
});

describe('the pages on the LLM', () => {
  const page = (path: string): string => pages.find((one) => one.path === path)?.text ?? '';
  const llm = page('docs/llm.md');

  it('are where a reader looks for them [X1d]', () => {
    for (const path of [
      'docs/README.md',
      'docs/quickstart.md',
      'docs/files-and-git.md',
      'docs/scan.md',
      'README.md',
    ])
      expect(page(path)).toContain('llm.md');
    for (const flag of ['--llm-backend', '--usage'])
      expect(page('docs/reference/commands.md')).toContain(flag);
    expect(page('docs/reference/config.md')).toContain('`provider.backend`');
  });

  it('know claude-code wherever they know anthropic [C10]', () => {
    const one = pages.filter(({ text }) => /\banthropic\b/.test(text) && !/claude-code/.test(text));
    expect(one.map(({ path }) => path)).toEqual([]);
    expect(readFileSync(join(root, 'schemas/ktx.schema.json'), 'utf8')).toContain('"claude-code"');
  });

  it('call it your own local Claude Code session, with no credentials of others, and name the gaps [K7 X2d X3d X4d X5d]', () => {
    expect(llm).toContain('your own local Claude Code session');
    expect(llm).toMatch(/do not share it, resell it/);
    expect(llm).toMatch(/does not use API keys, Vertex, gateway or Bedrock credentials/);
    expect(llm).toMatch(/not invokable/);
    expect(llm).not.toMatch(/skills[^.]*disabled/i);
    const gaps = llm.slice(llm.indexOf('## Known gaps'));
    for (const gap of [
      /same step/,
      /OpenTelemetry/,
      /[Pp]rompt caching/,
      /Embeddings are separate/,
    ])
      expect(gaps).toMatch(gap);
  });
});
