import type { Conflict, PastRuns, Status } from '../answers.ts';
import { isExport } from '../api.ts';
import { useData } from '../data.ts';
import { linkTo } from '../router.ts';
import { Chip, Empty, Failure, Said, Section, Title, Waiting } from '../parts/basics.tsx';
import { count, nameSubject, visible } from '../parts/text.ts';
import { TwoTruths } from '../review/two-truths.tsx';

/** What a person wants to know first: what waits for them, and whether things are current. */
export function HomePage() {
  const { data, error } = useData<Status>('status');
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <Waiting />;
  const leads = data.attention.contested.slice(0, mostLeads);
  return (
    <>
      <Title>What waits for you</Title>
      {leads.map((conflict) => (
        <LeadConflict key={`${conflict.subject} ${conflict.kind}`} conflict={conflict} />
      ))}
      <Queue status={data} />
      <Section title="Warehouses and sources">
        <Connections status={data} />
      </Section>
      {data.llm === undefined ? null : <LastRuns />}
      <LeftOut status={data} />
      {data.llm === undefined ? null : <Repository status={data} llm={data.llm} />}
    </>
  );
}

/** The conflicts that matter most, with their numbers. */
const mostLeads = 3;

function LeadConflict({ conflict }: { readonly conflict: Conflict }) {
  const { name, type } = nameSubject(conflict.subject);
  return (
    <section class="lead" aria-label={`Conflict about ${visible(name)}`}>
      <p class="eyebrow">
        <Chip tone="warn">contested</Chip> {type}
      </p>
      <h2>
        <Said>{name}</Said> means {conflict.variants.length === 2 ? 'two' : 'several'} things
      </h2>
      <TwoTruths conflict={conflict} />
      <p class="actions">
        <a class="button primary" href={`#/review?subject=${encodeURIComponent(conflict.subject)}`}>
          Decide
        </a>
      </p>
    </section>
  );
}

function Queue({ status: { attention, llm } }: { readonly status: Status }) {
  const { contested, joins, unreviewed, corrections, stale, pending, deferred } = attention;
  const leftOut = attention.quarantined.length + attention.unfit.length;
  const entries = [
    { amount: contested.length, title: 'Conflicts', text: 'sources disagree', link: '#/review' },
    {
      amount: joins.length,
      title: 'Joins in doubt',
      text: 'no query uses them yet',
      link: '#/review',
    },
    {
      amount: unreviewed.length,
      title: 'Unreviewed',
      text: 'metrics and times to confirm',
      link: '#/review',
    },
    {
      amount: corrections.length,
      title: 'Corrections',
      text: 'proposed by agents',
      link: '#/review',
    },
    { amount: stale.length, title: 'Stale', text: 'their evidence changed', link: '#/review' },
    // Callers of a server are not told what an ingest left out.
    ...(llm === undefined && !isExport
      ? []
      : [
          {
            amount: leftOut,
            title: 'Left out',
            text: 'facts that could not be used',
            link: '#/review',
          },
        ]),
    {
      amount: pending.length,
      title: 'Pending',
      text: 'wait for a model to read them',
      link: '#/review',
    },
    { amount: deferred.length, title: 'Put off', text: 'by a person', link: '#/review' },
  ];
  return (
    <ul class="tiles">
      {entries.map(({ amount, title, text, link }) => (
        <li key={title} class={amount === 0 ? 'tile none' : 'tile'}>
          <a href={link}>
            <b>{amount}</b>
            <span class="tile-title">{title}</span>
            <span class="soft">{text}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function Connections({ status: { connections, sources } }: { readonly status: Status }) {
  if (connections.length + sources.length === 0)
    return (
      <Empty>
        Nothing is connected yet: <code>ktx connection add</code>
      </Empty>
    );
  return (
    <table class="grid">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Kind</th>
          <th scope="col">What ktx knows</th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        {connections.map((own) => (
          <tr key={own.connection}>
            <th scope="row">
              <Said>{own.connection}</Said>
            </th>
            <td>{own.driver}</td>
            <td>
              {count(own.datasets, 'dataset')}, {count(own.metrics, 'metric')},{' '}
              {count(own.relationships, 'join')}
            </td>
            <td>
              <State {...own} problems={own.invalid.length} />
            </td>
          </tr>
        ))}
        {sources.map((own) => (
          <tr key={own.connection}>
            <th scope="row">
              <Said>{own.connection}</Said>
            </th>
            <td>{own.driver}</td>
            <td>{count(own.items, 'item')}</td>
            <td>
              <State {...own} problems={0} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function State({
  approved,
  ingested,
  problems,
}: {
  readonly approved: boolean;
  readonly ingested: boolean;
  readonly problems: number;
}) {
  if (!approved) return <Chip tone="warn">not approved here: ktx trust</Chip>;
  if (!ingested) return <Chip tone="warn">not ingested: ktx ingest</Chip>;
  if (problems > 0) return <Chip tone="bad">{count(problems, 'problem')}: ktx sl validate</Chip>;
  return <Chip tone="good">ingested</Chip>;
}

/** What was run last, and what it cost. */
function LastRuns() {
  const { data, error } = useData<PastRuns>(isExport ? undefined : 'runs');
  if (isExport) return null;
  return (
    <Section title="Last runs" note="ingests, evals and conversations: ktx status --runs">
      {error === undefined ? null : <Failure error={error} />}
      {data === undefined ? null : <Runs runs={data.runs} />}
    </Section>
  );
}

function Runs({ runs }: PastRuns) {
  if (runs.length === 0)
    return (
      <Empty>
        Nothing yet: <code>ktx ingest</code>
      </Empty>
    );
  return (
    <table class="grid">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">When</th>
          <th scope="col">What came of it</th>
          <th scope="col" class="number">
            USD
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map(({ kind, id, at, result, cost_usd: cost }) => (
          <tr key={id}>
            <th scope="row">{kind === 'eval' ? <a href={linkTo('evals', id)}>eval</a> : kind}</th>
            <td>
              <time dateTime={at}>{new Date(at).toLocaleString()}</time>
            </td>
            <td>
              <Said>{result}</Said>
            </td>
            <td class="number">{cost === null ? 'unknown' : cost.toFixed(cost === 0 ? 0 : 4)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Facts that code read and could not use: nobody decides about them, somebody corrects them. */
function LeftOut({ status: { attention } }: { readonly status: Status }) {
  const { quarantined, unfit } = attention;
  const facts = [
    ...quarantined.map(({ subject, kind, reason }) => ({
      item: subject,
      reason: `${kind}: ${reason}`,
    })),
    ...unfit,
  ];
  if (facts.length === 0) return null;
  return (
    <Section title="Left out" note="correct them where they stand, then ktx ingest">
      <ul class="lines">
        {facts.map(({ item, reason }) => (
          <li key={`${item} ${reason}`}>
            <Said>{item}</Said>{' '}
            <span class="soft">
              <Said>{reason}</Said>
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Repository({
  status: { uncommitted, git },
  llm,
}: {
  readonly status: Status;
  readonly llm: NonNullable<Status['llm']>;
}) {
  const files =
    uncommitted === undefined
      ? (git ?? 'no git repository')
      : uncommitted.length === 0
        ? 'everything is committed'
        : `not committed: ${uncommitted.join(', ')}`;
  return (
    <p class="foot soft">
      Git: <Said>{files}</Said>. Model:{' '}
      {llm.backend === 'none' ? 'none, so prose is not read' : <Said>{llm.backend}</Said>}.
    </p>
  );
}
