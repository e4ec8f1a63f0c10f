import { useState } from 'preact/hooks';
import type { Explained, JoinGraph } from '../answers.ts';
import { useData } from '../data.ts';
import { Chip, Failure, Said } from '../parts/basics.tsx';
import { Evidence } from '../parts/evidence.tsx';
import { count } from '../parts/text.ts';
import { linkTo, linkToSubject } from '../router.ts';
import { columnsOf } from './join-words.ts';
import { decideAll, type Decision, type Question, renaming } from '../review/questions.ts';

type GraphJoin = JoinGraph['joins'][number];
type Decide = ((decision: Decision) => void) | undefined;

interface JoinPanelProps {
  readonly graph: JoinGraph;
  /** The name of a dataset, or the subject of a join. */
  readonly chosen: string;
  readonly onClose: () => void;
  readonly onChoose: (subject: string) => void;
  /** Undefined if nothing can be decided. */
  readonly onDecide: Decide;
}

/** What is known about the join or the dataset that a person chose. */
export function JoinPanel({ graph, chosen, onClose, onChoose, onDecide }: JoinPanelProps) {
  const joins = graph.joins.filter(({ subject }) => subject === chosen);
  return (
    <aside class="panel" aria-label="Details">
      <button type="button" class="link close" onClick={onClose}>
        Close
      </button>
      {joins.length === 0 ? (
        <DatasetDetails graph={graph} name={chosen} onChoose={onChoose} />
      ) : (
        joins.map((join) => <JoinDetails key={join.to} join={join} onDecide={onDecide} />)
      )}
    </aside>
  );
}

function JoinDetails({ join, onDecide }: { readonly join: GraphJoin; readonly onDecide: Decide }) {
  const { data, error } = useData<Explained>('explain', { subject: join.subject });
  const { from, to, role, on, state, cardinality, confidence, why } = join;
  const tone = state === 'in_doubt' ? 'warn' : 'good';
  return (
    <>
      <p class="eyebrow">
        <Chip tone={tone}>{state.replace('_', ' ')}</Chip> {cardinality.replaceAll('_', ' ')}
      </p>
      <h2>
        <Said>{from}</Said> → <Said>{to}</Said>
      </h2>
      {role === to ? null : (
        <p>
          as <Said>{role}</Said>
        </p>
      )}
      <pre class="definition">
        <Said>
          {Object.entries(on)
            .map(([own, target]) => `${from}.${own} = ${to}.${target}`)
            .join('\n')}
        </Said>
      </pre>
      {why === undefined ? null : (
        <p class="why">
          <Said>{why}</Said>
        </p>
      )}
      {confidence === undefined ? null : (
        <p class="soft">Confidence {confidence.toFixed(1)} of 1.</p>
      )}
      {error === undefined ? null : <Failure error={error} />}
      {data?.explanations
        .filter(({ subject }) => subject === join.subject)
        .flatMap(({ claims, addresses }) =>
          claims.map((claim) => <Evidence key={claim.id} claim={claim} addresses={addresses} />),
        )}
      <JoinActions join={join} onDecide={onDecide} />
    </>
  );
}

function JoinActions({ join, onDecide }: { readonly join: GraphJoin; readonly onDecide: Decide }) {
  if (onDecide === undefined) return null;
  const question = questionAbout(join);
  if (question === undefined)
    return <p class="soft">Only the dataset’s file says so: change it there.</p>;
  const decide = (verb: 'accept' | 'reject'): void => onDecide(decideAll([question], verb));
  return (
    <>
      <p class="actions">
        {join.state === 'in_doubt' ? (
          <button type="button" class="button primary" onClick={() => decide('accept')}>
            Accept
          </button>
        ) : null}
        <button type="button" class="button" onClick={() => decide('reject')}>
          Reject
        </button>
      </p>
      <RoleForm join={join} onName={(role) => onDecide(renaming(question, role))} />
    </>
  );
}

interface RoleFormProps {
  readonly join: GraphJoin;
  readonly onName: (role: string) => void;
}

/** What queries call the join. */
function RoleForm({ join: { from, role, state }, onName }: RoleFormProps) {
  const [name, setName] = useState(role);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (name.trim() !== '' && (name.trim() !== role || state === 'in_doubt')) onName(name.trim());
  };
  return (
    <form class="role" onSubmit={submit}>
      <label>
        <span>Name in queries</span> <Said>{`${from}.`}</Said>
        <input
          type="text"
          value={name}
          autocomplete="off"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <button type="submit" class="button">
        {state === 'in_doubt' ? 'Accept with this name' : 'Rename'}
      </button>
    </form>
  );
}

/** Undefined for a join without claims, about which `ktx review` decides nothing. */
function questionAbout(join: GraphJoin): Question | undefined {
  const { subject, id, seen, to, on, why = '', confidence = 0 } = join;
  if (id === undefined) return undefined;
  return { type: 'join', key: id, about: { subject, id, to, on, why, confidence }, seen };
}

/** The join as one of its two datasets sees it. */
function joinFrom(name: string, { from, to, role }: GraphJoin): string {
  if (from !== name) return `← ${from}`;
  return `→ ${role === to ? to : `${to} as ${role}`}`;
}

interface DatasetPanelProps {
  readonly graph: JoinGraph;
  readonly name: string;
  readonly onChoose: (subject: string) => void;
}

function DatasetDetails({ graph, name, onChoose }: DatasetPanelProps) {
  const dataset = graph.datasets.find((own) => own.name === name);
  const joins = graph.joins.filter(({ from, to }) => from === name || to === name);
  if (dataset === undefined) return <p class="soft">It is not in the graph any more.</p>;
  const subject = `dataset:${graph.connection}.${name}`;
  return (
    <>
      <p class="eyebrow">
        <Chip>{dataset.layer ?? 'dataset'}</Chip>
      </p>
      <h2>
        <a href={linkToSubject(subject)}>
          <Said>{name}</Said>
        </a>
      </h2>
      <p class="soft">
        <Said>{dataset.key.length === 0 ? 'no key' : `one row per ${dataset.key.join(', ')}`}</Said>{' '}
        · {count(dataset.fields, 'field')} · {count(dataset.metrics, 'metric')}
      </p>
      <ul class="lines">
        {joins.map((join) => (
          <li key={`${join.subject} ${join.to}`}>
            <button type="button" class="link" onClick={() => onChoose(join.subject)}>
              <Said>{joinFrom(name, join)}</Said>
            </button>{' '}
            <code class="soft keys-of-join">
              <Said>{columnsOf(join).join(', ')}</Said>
            </code>
          </li>
        ))}
      </ul>
      <p>
        <a href={`${linkTo('joins')}?of=${encodeURIComponent(name)}`}>Only its neighbourhood</a>
      </p>
    </>
  );
}
