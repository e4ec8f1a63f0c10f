import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { UserError } from '../lib/error.ts';
import { parseJson } from '../lib/json.ts';
import { readVersion } from '../lib/version.ts';
import type { PageFiles } from './page-files.ts';
import { type PageCommand, pageRoutes } from './page-routes.ts';
import type { RunForPage } from './page-server.ts';

interface PageExport {
  /** A folder that does not exist, or is empty. */
  readonly dir: string;
  readonly files: PageFiles;
  readonly project: string;
  readonly connections: readonly string[];
  readonly run: RunForPage;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/** What the page asks for, as it names it. */
interface ExportedQuestion {
  readonly path: string;
  readonly input: Readonly<Record<string, string>>;
}

/**
 * Writes the pages and what they show as files for a documentation host. Only what git has: no
 * numbers of versions, no rows, and nothing that needs the warehouse or the server.
 */
export async function exportPage(options: PageExport): Promise<readonly string[]> {
  const { dir, files, project } = options;
  requireEmpty(dir);
  const about = { ok: true, data: { project, read_only: true, version: readVersion() } };
  const written = new Map<string, string | Buffer>([['data/about.json', JSON.stringify(about)]]);
  for (const [path, content] of files) written.set(path.slice(1), markExported(path, content));
  for (const { question, answer } of await answerAll(options))
    written.set(`data/${exportName(question)}.json`, JSON.stringify(answer));
  for (const [path, content] of written) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return [...written.keys()].sort();
}

function requireEmpty(dir: string): void {
  mkdirSync(dir, { recursive: true });
  if (readdirSync(dir).length === 0) return;
  throw new UserError('folder_not_empty', `${dir} is not empty.`, {
    hint: 'remove it, or name another folder',
    exitCode: 2,
  });
}

/** The page reads files in place of asking a server. */
function markExported(path: string, content: Buffer): string | Buffer {
  if (path !== '/index.html') return content;
  return content.toString().replace('<html', '<html data-export');
}

const graphSchema = z.object({
  data: z.object({
    datasets: z.array(z.object({ name: z.string() })),
    joins: z.array(z.object({ subject: z.string() })),
  }),
});
const fileSchema = z.object({
  data: z.object({
    definition: z
      .object({ metrics: z.array(z.object({ name: z.string() })).default([]) })
      .optional(),
  }),
});
const reviewSchema = z.object({
  data: z.object({ conflicts: z.array(z.object({ subject: z.string() })) }),
});

interface ExportedAnswer {
  readonly question: ExportedQuestion;
  readonly answer: unknown;
}
type AskForExport = (question: ExportedQuestion) => Promise<ExportedAnswer>;

/** Everything that a visitor can click on. */
async function answerAll(options: PageExport): Promise<readonly ExportedAnswer[]> {
  const ask: AskForExport = async (question) => ({
    question,
    answer: withoutValues(await answerOne(question, options)),
  });
  const answers: ExportedAnswer[] = [];
  for (const path of ['status', 'review', 'datasets']) answers.push(await ask({ path, input: {} }));
  const subjects = new Set(answers.flatMap(({ answer }) => conflictsIn(answer)));
  for (const [index, connection] of options.connections.entries()) {
    const found = await answerConnection(ask, connection, index === 0);
    answers.push(...found.answers);
    for (const subject of found.subjects) subjects.add(subject);
  }
  for (const [index, subject] of [...subjects].entries()) {
    options.onProgress(index, subjects.size);
    answers.push(await ask({ path: 'explain', input: { subject } }));
  }
  return answers;
}

function conflictsIn(answer: unknown): readonly string[] {
  const { data } = reviewSchema.safeParse(answer);
  return (data?.data.conflicts ?? []).map(({ subject }) => subject);
}

/** The graph and the files of a connection, and what has a page of its own there. */
async function answerConnection(ask: AskForExport, connection: string, isFirst: boolean) {
  const graph = await ask({ path: 'graph', input: isFirst ? {} : { connection } });
  const answers = [graph];
  const { datasets = [], joins = [] } = graphSchema.safeParse(graph.answer).data?.data ?? {};
  const subjects = joins.map(({ subject }) => subject);
  for (const { name: dataset } of datasets) {
    const file = await ask({ path: 'dataset', input: { dataset, connection } });
    answers.push(file);
    const metrics = fileSchema.safeParse(file.answer).data?.data.definition?.metrics ?? [];
    subjects.push(`dataset:${connection}.${dataset}`);
    subjects.push(...metrics.map(({ name }) => `metric:${connection}.${dataset}.${name}`));
  }
  return { answers, subjects };
}

async function answerOne(
  { path, input }: ExportedQuestion,
  { run, signal }: PageExport,
): Promise<unknown> {
  const command: PageCommand | undefined = pageRoutes[`/api/${path}`]?.toCommand(input);
  return command && parseJson(await run(command, { signal }));
}

/** Keys whose values are no text of the project's files: numbers, folders, run ids, the model. */
const left = new Set(['number', 'dir', 'meta', 'llm', 'embeddings', 'uncommitted', 'git']);

function withoutValues(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer, (key, value: unknown) => (left.has(key) ? undefined : value)),
  ) as unknown;
}

/** As the page names the file: letters that every host serves. */
function exportName({ path, input }: ExportedQuestion): string {
  const query = new URLSearchParams(input).toString();
  const plain = query === '' ? path : `${path}-${query}`;
  return plain.replaceAll(/[^\w.-]/g, (character) => `_${character.codePointAt(0)?.toString(16)}`);
}
