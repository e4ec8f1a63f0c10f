import type { EvalReport, EvalRuns } from '../answers.ts';
import { useData } from '../data.ts';
import { Chip, Empty, Failure, Said, Section, Title, Waiting } from '../parts/basics.tsx';
import { count, visible } from '../parts/text.ts';
import { linkTo, type Place } from '../router.ts';
import { RowDiff } from './row-diff.tsx';

type ListedRun = EvalRuns['runs'][number];
type RunCase = EvalReport['run']['cases'][number];

/** How agents did, run by run; with a run in the address, its cases with what was wrong. */
export function EvalsPage({ place }: { readonly place: Place }) {
  const { data, error } = useData<EvalRuns>('evals');
  const run = place.parts[1];
  return (
    <>
      <Title>Evals</Title>
      {error === undefined ? null : <Failure error={error} />}
      {data === undefined && error === undefined ? <Waiting /> : null}
      {data === undefined ? null : <Runs runs={data.runs} chosen={run} />}
      {run === undefined ? null : <OneRun run={run} key={run} />}
    </>
  );
}

interface RunsProps {
  readonly runs: readonly ListedRun[];
  readonly chosen: string | undefined;
}

function Runs({ runs, chosen }: RunsProps) {
  if (runs.length === 0)
    return (
      <Empty>
        Nobody has tested an agent here yet: <code>ktx eval run</code>
      </Empty>
    );
  return (
    <>
      <Section title="Runs" note="the newest last">
        <div class="scroll" tabIndex={0} role="region" aria-label="Runs">
          <table class="grid">
            <thead>
              <tr>
                {['Run', 'Agents', 'Passed', 'Without context', 'Flaky', 'Cost'].map(
                  (title, index) => (
                    <th key={title} scope="col" class={index > 1 ? 'number' : ''}>
                      {title}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <RunRow key={run.id} run={run} isChosen={run.id === chosen} />
              ))}
            </tbody>
          </table>
        </div>
      </Section>
      <Section title="Cases by run">
        <Matrix runs={runs} />
      </Section>
    </>
  );
}

function RunRow({ run, isChosen }: { readonly run: ListedRun; readonly isChosen: boolean }) {
  const { summary, agents } = run;
  const bare = run.without_context;
  const passed = bare?.filter(({ outcome }) => outcome === 'pass').length;
  return (
    <tr class={isChosen ? 'chosen' : ''}>
      <th scope="row">
        <a href={linkTo('evals', run.id)}>{run.started.slice(0, 16).replace('T', ' ')}</a>
      </th>
      <td>
        <Said>{agents.map(({ name, model }) => `${name} (${model})`).join(', ')}</Said>
      </td>
      <td class="number">
        {summary.counts.pass} of {summary.cases}
      </td>
      <td class="number">{passed === undefined ? '' : `${passed} of ${bare?.length}`}</td>
      <td class="number">{summary.flaky}</td>
      <td class="number">
        {summary.cost_usd === undefined
          ? ''
          : `$${(summary.cost_usd.value * summary.cases).toFixed(3)}`}
      </td>
    </tr>
  );
}

const marks: Readonly<Record<string, string>> = {
  pass: '✓',
  weak: '≈',
  fail: '✗',
  timeout: 'T',
  error: '!',
  inconclusive: '?',
  skipped: '–',
};

function Matrix({ runs }: { readonly runs: readonly ListedRun[] }) {
  const shown = runs.slice(-12);
  const ids = [...new Set(shown.toReversed().flatMap(({ cases }) => cases.map(({ id }) => id)))];
  // What the newest run says without any context.
  const bareCases = shown.at(-1)?.without_context;
  const bare = bareCases && new Map(bareCases.map((own) => [own.id, own]));
  const byRun = shown.map(({ cases }) => new Map(cases.map((own) => [own.id, own])));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Cases by run">
      <table class="grid matrix">
        <thead>
          <tr>
            <th scope="col">Case</th>
            {shown.map(({ id, started }) => (
              <th key={id} scope="col">
                <a href={linkTo('evals', id)} title={started}>
                  {started.slice(5, 10)}
                </a>
              </th>
            ))}
            {bare === undefined ? null : <th scope="col">without</th>}
          </tr>
        </thead>
        <tbody>
          {ids.map((id) => (
            <tr key={id}>
              <th scope="row">
                <Said>{id}</Said>
              </th>
              {byRun.map((cases, index) => (
                <MatrixCell key={index} result={cases.get(id)} />
              ))}
              {bare === undefined ? null : <MatrixCell result={bare.get(id)} />}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function MatrixCell({ result }: { readonly result: ListedRun['cases'][number] | undefined }) {
  if (result === undefined) return <td />;
  const { outcome, flaky } = result;
  return (
    <td>
      <span class={`mark-${outcome}`} title={flaky ? `${outcome}, flaky` : outcome}>
        <span aria-hidden="true">{marks[outcome]}</span>
        <span class="visually-hidden">{outcome}</span>
        {flaky ? '~' : ''}
      </span>
    </td>
  );
}

function OneRun({ run }: { readonly run: string }) {
  const { data, error } = useData<EvalReport>('eval', { run });
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <Waiting />;
  const { cases, without_context: bare } = data.run;
  const bareById = new Map(bare?.map((own) => [own.id, own.outcome]));
  return (
    <Section title="Cases of this run" note={count(cases.length, 'case')}>
      <ul class="claims">
        {cases.map((own) => (
          <li key={own.id}>
            <RunCaseDetails run={data.run.id} result={own} bare={bareById.get(own.id)} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

const tones = { pass: 'good', weak: 'warn', inconclusive: 'warn', skipped: 'plain' } as const;

function toneOf(outcome: string): 'good' | 'warn' | 'plain' | 'bad' {
  return tones[outcome as keyof typeof tones] ?? 'bad';
}

interface RunCaseProps {
  readonly run: string;
  readonly result: RunCase;
  /** The outcome without any context; undefined if nobody asked so. */
  readonly bare: string | undefined;
}

function RunCaseDetails({ run, result, bare }: RunCaseProps) {
  const { id, outcome, flaky, attempts, reason } = result;
  return (
    <details open={outcome !== 'pass' && outcome !== 'skipped'}>
      <summary>
        <Chip tone={toneOf(outcome)}>{outcome}</Chip> <Said>{id}</Said>{' '}
        {flaky ? <Chip tone="warn">flaky: {passRate(attempts)}</Chip> : null}{' '}
        {bare === undefined ? null : <span class="soft">without context: {bare}</span>}
      </summary>
      {reason === undefined ? null : (
        <p class="soft">
          <Said>{reason}</Said>
        </p>
      )}
      {attempts.flatMap(({ turns }, attempt) =>
        turns.map((turn, index) => (
          <div class="turn" key={`${attempt} ${index}`}>
            {attempts.length === 1 ? null : (
              <p class="eyebrow">
                attempt {attempt + 1} of {attempts.length}
              </p>
            )}
            <p>
              <b>
                <Said>{turn.question}</Said>
              </b>
            </p>
            <p class="answer">
              <Said>{turn.answer}</Said>
            </p>
            <ul class="lines">
              {turn.findings.map(({ grader, outcome: found, found: text }) => (
                <li key={grader}>
                  <Chip tone={toneOf(found)}>{grader}</Chip> <Said>{text}</Said>
                </li>
              ))}
            </ul>
            {hasOtherRows(turn) ? <RowDiff run={run} id={id} attempt={attempt + 1} /> : null}
            {turn.queries.map(({ id: query, sql }) =>
              sql === undefined ? null : (
                <pre class="command" key={query}>
                  {visible(sql)}
                </pre>
              ),
            )}
          </div>
        )),
      )}
    </details>
  );
}

type AnsweredCase = RunCase['attempts'][number]['turns'][number];

/** Only what rests on a query can be compared with golden SQL. */
function hasOtherRows({ findings, golden_sql: golden, queries }: AnsweredCase): boolean {
  const isWrong = findings.some((found) => found.grader === 'result' && found.outcome === 'fail');
  return isWrong && golden !== undefined && queries.some(({ sql }) => sql !== undefined);
}

function passRate(attempts: RunCase['attempts']): string {
  const passed = attempts.filter(({ outcome }) => outcome === 'pass').length;
  return `${passed} of ${attempts.length} passed`;
}
