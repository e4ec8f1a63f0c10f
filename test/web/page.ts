import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { runCli } from '../../src/cli/run.ts';
import { environment, ktx, shopDatabase } from '../cli/run-cli.ts';
import { approve } from '../support/approve.ts';

const metricPage = (formulas: Readonly<Record<string, string>>) =>
  `| Metric | Meaning | Formula |\n|---|---|---|\n${Object.entries(formulas)
    .map(([name, formula]) => `| ${name} | As the board reads it. | \`${formula}\` |\n`)
    .join('')}`;

/** A project in which two documents disagree about one metric. The caller removes it. */
export async function contestedProject(): Promise<string> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-web-')));
  shopDatabase(join(cwd, 'shop.db'));
  await ingestPages(cwd, [
    { Revenue: "sum(orders.amount) where status = 'paid'" },
    { Revenue: 'sum(orders.amount)' },
  ]);
  return cwd;
}

/** A project with three conflicts, two joins in doubt and an unreviewed metric. */
export async function waitingProject(): Promise<string> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-web-')));
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(`CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, packer REAL, checker REAL,
      amount REAL, tax REAL, status TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      INSERT INTO staff SELECT i, 'name ' || i FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
      INSERT INTO orders SELECT i, 0.5 + i * 7 % 40, 0.5 + i * 11 % 40, i * 1.5, i * 0.3,
        CASE i % 4 WHEN 0 THEN 'open' ELSE 'paid' END FROM n;`);
  db.close();
  const paid = "where status = 'paid'";
  await ingestPages(cwd, [
    {
      Revenue: `sum(orders.amount) ${paid}`,
      'Order tax': `sum(orders.tax) ${paid}`,
      'Average order': `avg(orders.amount) ${paid}`,
    },
    {
      Revenue: 'sum(orders.amount)',
      'Order tax': 'sum(orders.tax)',
      'Average order': 'avg(orders.amount)',
    },
  ]);
  addReadByModel(cwd);
  return cwd;
}

/** As an ingest leaves it in which a model read a metric and joins in a page. */
function addReadByModel(cwd: string): void {
  const file = join(cwd, 'semantic-layer/warehouse/orders.yaml');
  const metric = "  - {name: big, agg: count, where: 'amount > 9', unreviewed: true}\n";
  writeFileSync(file, readFileSync(file, 'utf8').replace('metrics:\n', `metrics:\n${metric}`));
  const evidence = {
    connection: 'pages',
    origin: 'model',
    extractor: 'reading@1',
    item: 'sources/pages/terms.md',
    quote: 'Big orders are over 9 euros.',
    confidence: 0.8,
  };
  const subject = 'metric:warehouse.orders.big';
  const claims = [
    { subject, kind: 'metric', body: { agg: 'count', where: 'amount > 9' }, evidence },
    ...['packer', 'checker'].map((column) => ({
      subject: `relationship:warehouse.orders(${column})`,
      kind: 'possible_relationship',
      body: { to: 'staff', on: { [column]: 'id' } },
      evidence: { ...evidence, quote: `The ${column} is somebody of the staff.` },
    })),
  ];
  const lines = claims.map((claim) => `${JSON.stringify(claim)}\n`);
  appendFileSync(join(cwd, 'claims/warehouse/orders.jsonl'), lines.join(''));
}

async function ingestPages(
  cwd: string,
  [first = {}, second = {}]: readonly Readonly<Record<string, string>>[],
): Promise<void> {
  await run(cwd, 'setup', '--driver', 'sqlite', '--path', 'shop.db');
  mkdirSync(join(cwd, 'docs'));
  writeFileSync(join(cwd, 'docs/a.md'), metricPage(first));
  writeFileSync(join(cwd, 'docs/b.md'), metricPage(second));
  await run(cwd, 'connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs');
  await run(cwd, 'ingest');
}

async function run(cwd: string, ...argv: readonly string[]): Promise<void> {
  const { code, stderr } = await ktx(argv, { cwd });
  if (code !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`);
}

export function removeFolder(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
}

const listeningSchema = z.object({ url: z.string(), link: z.string() });

export interface StartedPage extends AsyncDisposable {
  readonly url: string;
  /** Lets one browser in. */
  readonly link: string;
}

/** `ktx web` in this process, until it is disposed. */
export async function startPage(cwd: string, flags: readonly string[] = []): Promise<StartedPage> {
  const env = environment({});
  await approve(cwd, env);
  const stop = new AbortController();
  const listening = Promise.withResolvers<string>();
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      listening.resolve(chunk.toString());
      done();
    },
  });
  const host = {
    stdin: Readable.from([]),
    stdout,
    stderr: new Writable({ write: (_chunk, _encoding, done) => done() }),
    env,
    cwd,
    signal: stop.signal,
  };
  const ended = runCli(['web', '--port', '0', '--json', ...flags], host);
  void ended.then(() => listening.reject(new Error('ktx web ended')));
  const { url, link } = listeningSchema.parse(JSON.parse(await listening.promise));
  return {
    url,
    link,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** One request with exactly these headers, as no browser lets a page send them. */
export async function sendTo(url: string, sent: Sent = {}): Promise<Received> {
  const { method = 'GET', headers = {}, body } = sent;
  const text = typeof body === 'string' ? body : body && JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(pieces).toString(),
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(text);
  });
}

/** The headers that the page itself sends, once its link was opened. */
export async function enterPage({ url, link }: StartedPage): Promise<Record<string, string>> {
  const token = link.split('#token=')[1] ?? '';
  const origin = new URL(url).origin;
  const { status, headers, text } = await sendTo(`${url}session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: { link: token },
  });
  if (status !== 200) throw new Error(text);
  const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
  const { data } = z.object({ data: z.object({ key: z.string() }) }).parse(JSON.parse(text));
  return { cookie, origin, 'x-ktx-page': data.key };
}

const envelopeSchema = z.looseObject({
  ok: z.boolean(),
  data: z.unknown().optional(),
  error: z.looseObject({ code: z.string() }).optional(),
});

export function envelopeOf({ text }: Received): z.infer<typeof envelopeSchema> {
  return envelopeSchema.parse(JSON.parse(text));
}

/** The project of `waitingProject`, with the demo in a folder of it. The caller removes it. */
export async function projectWithDemo(): Promise<{ readonly cwd: string; readonly demo: string }> {
  const cwd = await waitingProject();
  const { code, stderr } = await ktx(['demo', '--dir', 'demo', '--json'], { cwd });
  if (code !== 0) throw new Error(stderr);
  return { cwd, demo: join(cwd, 'demo') };
}
