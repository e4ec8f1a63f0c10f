import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ingestProject } from '../../src/project/learn/ingest.ts';
import { openProject } from '../../src/project/open/open.ts';
import { noteId, storeNote } from '../../src/sources/notes/inbox.ts';
import { loopTools } from '../../src/tools/loop-tools.ts';
import { read, run, write } from '../store/git-project.ts';
import { labelOf, type Event } from '../support/event-label.ts';
import { tablesAsked } from '../support/describing-model.ts';
import { openModelEndpoint } from '../support/model-endpoint.ts';
import { give, type ModelCall, type Script } from '../support/model-script.ts';
import { reading, readingAsked } from '../support/reading-model.ts';
import { isCurating, isReconciling, statementToMend } from '../support/ruling-model.ts';
import { copyOf, shopProject, sql, stateOf } from './ingest-project.ts';
import { approve } from '../support/approve.ts';
import { ensureStateDirectory } from '../../src/store/directories.ts';

const main = new URL('../../src/cli/main.ts', import.meta.url).pathname;
const dieAtLine = new URL('../support/die-at-line.ts', import.meta.url).href;

/**
 * Units that a run works on at once: what may be under way, and so be asked for again, when it is
 * killed.
 */
const concurrency = 2;

const note = 'A lost customer means one without any order in the last two years.';
const edits: readonly (readonly [path: string, text: string])[] = [
  ['semantic-layer/shop/orders.yaml', 'What a customer bought, in one go.'],
  ['wiki/glossary.md', 'Written by hand, and not committed.'],
  ['notes.txt', 'staged and changed'],
];

/** When to kill a run: at the n-th event of that label, or so many milliseconds after it. */
export interface Point {
  /** `start`: that of the process, which is no event. */
  readonly label: string;
  readonly nth: number;
  /** Undefined: the process kills itself in the moment in which the event is out. */
  readonly after?: number | undefined;
}

/** What came of one kill. */
export interface Killed {
  /** The last thing that the run said; undefined where the run ended before it could be killed. */
  readonly fell: string | undefined;
  /** Each empty where all is well. */
  readonly lostEdits: readonly string[];
  readonly lostNotes: readonly string[];
  readonly lostClaims: readonly string[];
  readonly paidTwice: readonly string[];
  /** Parts of the state that are not those of the run that nobody killed. */
  readonly different: readonly string[];
}

export interface Killing {
  /** Of the run that nobody killed, in order. */
  readonly events: readonly Event[];
  /** Kills an ingest of a copy of the project there, and runs the next one to its end. */
  kill(point: Point): Promise<Killed>;
  close(): Promise<void>;
}

/** A project with work for every stage, and what an ingest of it does when nobody kills it. */
export async function openKilling(): Promise<Killing> {
  const endpoint = await openModelEndpoint();
  const asked = new Map<string, ModelCall[]>();
  endpoint.fallback = (call) => {
    asked.get(String(call.headers['x-api-key']))?.push(call);
    return answering(call);
  };
  const project = await preparedProject(`${endpoint.url}/v1`);
  const dirs = [project];
  const copied = () => {
    const dir = copyOf(project);
    dirs.push(dir);
    return dir;
  };
  /** The requests to the endpoint are told apart by the key that the project has for it. */
  const heard = async <T>(dir: string, name: string, work: () => Promise<T>) => {
    const calls: ModelCall[] = [];
    const key = `sk-${name}-${basename(dir)}`;
    asked.set(key, calls);
    ensureStateDirectory(dir);
    write(dir, '.ktx/key', key);
    return { ended: await work(), calls };
  };
  const whole = copied();
  const {
    ended: { events, code },
  } = await heard(whole, 'whole', () => ingestUntil(whole));
  if (code !== 0) throw new Error(`an ingest that nobody killed ended with ${code}`);
  const expected = stateOf(whole);
  return {
    events,
    async kill(point) {
      const dir = copied();
      const first = await heard(dir, 'first', () => ingestUntil(dir, point));
      const lostEdits = edits.flatMap(([path, text]) =>
        readOr(dir, path).includes(text) ? [] : [path],
      );
      const lostNotes = hasNote(dir) ? [] : [note];
      const next = await heard(dir, 'next', () => ingestHere(dir));
      const state = stateOf(dir);
      const different = Object.keys(expected).filter(
        (part) => JSON.stringify(state[part]) !== JSON.stringify(expected[part]),
      );
      if (next.ended !== 0) different.push(`exit code ${next.ended}`);
      const lostClaims = claimsIn(expected).filter((line) => !claimsIn(state).includes(line));
      const harm = [lostEdits, lostNotes, lostClaims, different].flat();
      if (harm.length === 0) rmSync(dir, { recursive: true });
      const last = first.ended.events.at(-1);
      const fell =
        first.ended.code === null ? (last === undefined ? 'start' : labelOf(last)) : undefined;
      const paid = paidTwice({ events: first.ended.events, calls: first.calls }, next.calls);
      return { fell, lostEdits, lostNotes, lostClaims, paidTwice: paid, different };
    },
    async close() {
      await endpoint.close();
      for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/**
 * The ends of all stages (that of repair is the last call), the first turn of a loop, and each step
 * of publishing, of a run with these events.
 */
export function boundariesOf(events: readonly Event[]): Point[] {
  const lines = pointsOf(events);
  const lastRepair = lines[events.findIndex(({ type }) => type === 'publish_step') - 1];
  const ends = new Map(lines.map((point) => [point.label, point]));
  const stages = [...ends.values()].filter(
    ({ label }) => !/_started|_planned|profile|keys|llm_usage/.test(label),
  );
  return [...stages, { label: 'work_unit_step', nth: 1 }, ...(lastRepair ? [lastRepair] : [])];
}

/**
 * Points anywhere in a run with these events: a moment after one of them, or in the start of the
 * process.
 */
export function randomPoint(events: readonly Event[], random: () => number): Point {
  const lines = pointsOf(events);
  const at = Math.floor(random() * (lines.length + 1));
  const point = lines[at];
  return point === undefined
    ? { label: 'start', nth: 1, after: random() * 1000 }
    : { ...point, after: random() * 30 };
}

/** Numbers from 0 to 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function pointsOf(events: readonly Event[]): Point[] {
  const counts = new Map<string, number>();
  return events.map((event) => {
    const label = labelOf(event);
    counts.set(label, (counts.get(label) ?? 0) + 1);
    return { label, nth: counts.get(label) ?? 1 };
  });
}

const table = (formula: string) =>
  `| Metric | Definition | Formula |\n|---|---|---|\n| Revenue | In words. | \`${formula}\` |\n`;
const documents = {
  'a.md': `${table("sum(orders.amount) where status = 'paid'")}\n| Term | Definition |\n|---|---|\n| Margin | What is left. |\n`,
  'b.md': `${table('sum(orders.amount)')}| Paid | What is paid. | \`sum(orders.amuont) where status = 'paid'\` |\n`,
  'terms.md': '# Words\n\nAn active customer means one with an order in the last ninety days.\n',
  'numbers.md':
    '# Numbers\n\nThe turnover is the sum of amount in orders. Always leave out the orders of employees of the shop.\n',
};

const answering: Script = (call) => {
  const statement = call.objectTaken ? undefined : statementToMend(call);
  return statement === undefined
    ? reading(call)
    : give({ body: JSON.stringify(statement.body).replace('amuont', 'amount') });
};

/**
 * After a first ingest without a model: work of a person in every state that git knows, a note, and
 * a database that moved on.
 */
async function preparedProject(url: string): Promise<string> {
  const dir = shopProject();
  const llm = `llm:\n  provider: {backend: anthropic, anthropic: {api_key: file:.ktx/key, base_url: ${url}}}\n  models: {default: claude-sonnet-4-6}\n  concurrency: ${concurrency}\n`;
  const connections =
    'shop: {driver: sqlite, path: shop.sqlite}\n  models: {driver: dbt, path: dbt}\n  handbook: {driver: docs, path: docs}';
  write(dir, 'ktx.yaml', `connections:\n  ${connections}\n${llm}`);
  for (const [name, text] of Object.entries(documents)) write(dir, `docs/${name}`, text);
  write(
    dir,
    'dbt/dbt_project.yml',
    "name: shop\nversion: '1.0'\nprofile: shop\nmodel-paths: [models]\n",
  );
  write(dir, 'dbt/models/orders.sql', "select * from raw_orders where status <> 'test'\n");
  write(
    dir,
    'dbt/models/schema.yml',
    'models:\n  - name: orders\n    columns:\n      - {name: id, tests: [unique, not_null]}\n',
  );
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'sources');
  await ingestUntil(dir, undefined, ['--no-llm']);
  const customers = read(dir, 'semantic-layer/shop/customers.yaml').trimEnd();
  write(
    dir,
    'semantic-layer/shop/customers.yaml',
    `${customers}\nsegments:\n  - name: northern\n    where: region = 'north'\n`,
  );
  run(dir, 'commit', '-qam', 'a segment');
  const [[orders, description], [glossary, sentence], [other]] = edits as readonly [
    (typeof edits)[0],
    (typeof edits)[0],
    (typeof edits)[0],
  ];
  write(dir, orders, read(dir, orders).replace('fields:', `description: ${description}\nfields:`));
  write(dir, glossary, `${read(dir, glossary).trimEnd()}\n\n## By hand\n\n${sentence}\n`);
  write(dir, other, 'staged\n');
  run(dir, 'add', other);
  write(dir, other, 'staged and changed\n');
  await storeNote(dir, note);
  sql(
    dir,
    `ALTER TABLE orders ADD COLUMN note TEXT; DROP TABLE coupons;
     CREATE TABLE refunds (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id));
     INSERT INTO refunds SELECT id + 1000, id FROM orders LIMIT 40;`,
  );
  return dir;
}

/** The ingest after a kill; in this process, since that is quicker. */
async function ingestHere(dir: string): Promise<number> {
  await approve(dir);
  const project = await openProject(dir);
  try {
    const asked = {
      connections: [],
      signal: AbortSignal.timeout(300_000),
      tools: loopTools(project),
    };
    return (await ingestProject(project, asked)).exitCode;
  } finally {
    await project.close();
  }
}

/**
 * `ktx ingest --json` as a process, to its end or to that point; its events, without the envelope.
 */
async function ingestUntil(dir: string, point?: Point, args: readonly string[] = []) {
  const { label = '', nth = 0, after } = point ?? {};
  const isExact = point !== undefined && after === undefined;
  const env = { ...process.env, ...(isExact && { DIE_AT_LINE: label, DIE_AT_NTH: String(nth) }) };
  await approve(dir);
  const node = isExact ? ['--import', dieAtLine] : [];
  const child = spawn(
    process.execPath,
    [...node, main, 'ingest', ...args, '--json', '--project-dir', dir],
    { env, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const killLater = () => void sleep(after).then(() => child.kill('SIGKILL'));
  if (label === 'start') killLater();
  const events: Event[] = [];
  let met = 0;
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const event of lines.map((line) => JSON.parse(line) as Event)) {
      // The last line is the envelope.
      if (event.type === undefined) return;
      events.push(event);
      if (labelOf(event) === label) met += 1;
      if (!isExact && labelOf(event) === label && met === nth) killLater();
    }
  });
  const code = await new Promise<number | null>((resolve) => void child.on('close', resolve));
  return { code, events };
}

/** What a request is a part of, where it is the first one of it. */
function workOf(call: ModelCall): string | undefined {
  const statement = statementToMend(call);
  if (statement !== undefined) return `repair ${JSON.stringify(statement)}`;
  const unit = readingAsked(call);
  if (unit !== undefined)
    return unit.turn > 1
      ? undefined
      : `${unit.stage} ${unit.items.map(({ item }) => item).join(' ')}`;
  if (isCurating(call) || isReconciling(call))
    return call.results.length > 0 ? undefined : isCurating(call) ? 'curate' : 'reconcile';
  const tables = tablesAsked(call).map((asked) => asked.table);
  // The probe of a model describes nothing.
  return tables.length === 0 ? undefined : `describe ${tables.join(' ')}`;
}

/**
 * What the run that was killed had finished, as far as it said so or its requests show it, and what
 * the next one paid for again.
 */
function paidTwice(
  { events, calls }: { events: readonly Event[]; calls: readonly ModelCall[] },
  next: readonly ModelCall[],
): string[] {
  const again = next.flatMap((call) => workOf(call) ?? []);
  const before = new Set(calls.flatMap((call) => workOf(call) ?? []));
  const repeated = again.filter((work) => before.has(work));
  const isDone = (call: ModelCall) =>
    call.results.some(({ text }) => text.includes('You are done'));
  const finished = new Set<string>([
    ...(calls.some((call) => isCurating(call) && isDone(call)) ? ['curate'] : []),
    ...(calls.some((call) => isReconciling(call) && isDone(call)) ? ['reconcile'] : []),
  ]);
  const itemsOf = new Map(
    events.flatMap((event) =>
      event.type === 'work_unit_started'
        ? [[`${String(event['stage'])} ${String(event['unit'])}`, event['items'] as string[]]]
        : [],
    ),
  );
  for (const event of events) {
    if (event.type !== 'work_unit_finished' || event['outcome'] !== 'natural') continue;
    const items = itemsOf.get(`${String(event['stage'])} ${String(event['unit'])}`) ?? [];
    finished.add(`${String(event['stage'])} ${items.join(' ')}`);
  }
  // Descriptions are told by their number alone; once a later stage has begun, none is left.
  const described = events.findLast(({ type }) => type === 'description_progressed');
  const left =
    described === undefined ? Infinity : Number(described['total']) - Number(described['done']);
  const describedAgain = again.filter((work) => work.startsWith('describe '));
  const isPublishing = events.some(({ type }) => type === 'publish_step' || type === 'published');
  return [
    ...again.filter((work) => finished.has(work) || isPublishing),
    ...describedAgain.slice(left),
    ...repeated.slice(concurrency),
    ...again.filter((work, at) => again.indexOf(work) !== at),
  ];
}

const hasNote = (dir: string) =>
  existsSync(join(dir, `.ktx/notes/${noteId(note)}.md`)) ||
  readOr(dir, `sources/notes/${noteId(note)}.md`).includes(note);

function readOr(dir: string, path: string): string {
  return existsSync(join(dir, path)) ? readFileSync(join(dir, path), 'utf8') : '';
}

function claimsIn(state: Record<string, unknown>): string[] {
  const files = Object.entries(state['files'] as Record<string, string>);
  return files.flatMap(([path, text]) =>
    path.startsWith('claims/')
      ? text.split('\n').filter((line) => !line.startsWith('{"base"'))
      : [],
  );
}
