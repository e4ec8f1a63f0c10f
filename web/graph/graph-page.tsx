import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { About, JoinGraph } from '../answers.ts';
import { isExport } from '../api.ts';
import { useData } from '../data.ts';
import { Empty, Failure, Said, Section, Title, Waiting } from '../parts/basics.tsx';
import { count } from '../parts/text.ts';
import type { Place } from '../router.ts';
import { useDecisions } from '../review/use-decisions.ts';
import { DecisionLine } from '../review/decision-line.tsx';
import { GraphView } from './graph-view.tsx';
import { JoinPanel } from './join-panel.tsx';
import { JoinTable } from './join-table.tsx';
import { connectedGroups } from './layout.ts';
import { busiest, mostDrawn, neighbourhoodOf } from './neighbourhood.ts';

/** How the datasets join, and how sure each join is. */
export function GraphPage({ place }: { readonly place: Place }) {
  const connection = place.query.get('connection') ?? undefined;
  const { data, error } = useData<JoinGraph>('graph', { connection });
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <Waiting />;
  return <Graph graph={data} wanted={place.query.get('of') ?? undefined} />;
}

interface GraphProps {
  readonly graph: JoinGraph;
  readonly wanted: string | undefined;
}

function Graph({ graph, wanted }: GraphProps) {
  const [chosen, choose] = useState(wanted);
  const isLarge = graph.datasets.length >= mostDrawn;
  const [center, setCenter] = useState(wanted ?? (isLarge ? busiest(graph) : undefined));
  // A link to another neighbourhood while the page is open.
  useEffect(() => {
    choose(wanted);
    if (wanted !== undefined) setCenter(wanted);
  }, [wanted]);
  const drawn = useMemo(() => drawnPart(graph, center), [graph, center]);
  const doubts = graph.joins.filter(({ state }) => state === 'in_doubt').length;
  const about = useData<About>('about').data;
  const decisions = useDecisions();
  const mayDecide = !isExport && about?.read_only === false;
  const show = (name: string): void => {
    choose(name);
    if (isLarge && graph.datasets.some((own) => own.name === name)) setCenter(name);
  };
  return (
    <>
      <Title aside={<Legend />}>Joins</Title>
      <div class="graph-bar">
        <DatasetFinder graph={graph} onFind={(name) => (show(name), setCenter(name))} />
        <span class="soft">
          {count(graph.datasets.length, 'dataset')}, {count(graph.joins.length, 'join')}
          {doubts === 0 ? '' : `, ${doubts} in doubt`}
        </span>
        {center === undefined || isLarge ? null : (
          <button
            type="button"
            class="link"
            onClick={() => (setCenter(undefined), choose(undefined))}
          >
            Show all
          </button>
        )}
        {center === undefined ? null : (
          <span class="soft">
            around <Said>{center}</Said>, two joins far
          </span>
        )}
      </div>
      <DecisionLine decisions={mayDecide ? decisions : undefined} />
      <div class={chosen === undefined ? 'graph-area' : 'graph-area with-panel'}>
        <Canvas drawn={drawn} chosen={chosen} onChoose={show} />
        {chosen === undefined ? null : (
          <JoinPanel
            graph={graph}
            chosen={chosen}
            onClose={() => choose(undefined)}
            onChoose={choose}
            onDecide={mayDecide ? decisions.decide : undefined}
          />
        )}
      </div>
      {drawn.lonely.length === 0 ? null : (
        <Section title="Without joins" note={count(drawn.lonely.length, 'dataset')}>
          <p class="lonely">
            {drawn.lonely.map((name) => (
              <button key={name} type="button" class="link" onClick={() => choose(name)}>
                <Said>{name}</Said>
              </button>
            ))}
          </p>
        </Section>
      )}
      <JoinTable joins={drawn.joins} onChoose={choose} />
    </>
  );
}

interface DrawnPart {
  readonly names: readonly string[];
  readonly joins: JoinGraph['joins'];
  readonly lonely: readonly string[];
}

/** All of it, or what is near one dataset. */
function drawnPart(graph: JoinGraph, center: string | undefined): DrawnPart {
  const known = graph.datasets.map(({ name }) => name);
  const names = center === undefined ? known : neighbourhoodOf(graph, center);
  const inside = new Set(names);
  const joins = graph.joins.filter(({ from, to }) => inside.has(from) && inside.has(to));
  const joined = new Set(joins.flatMap(({ from, to }) => [from, to]));
  const groups = connectedGroups(names, joins);
  const drawn = groups.flat().filter((name) => joined.has(name) || name === center);
  const lonely = center === undefined ? names.filter((name) => !joined.has(name)) : [];
  return { names: drawn, joins, lonely };
}

interface CanvasProps {
  readonly drawn: DrawnPart;
  readonly chosen: string | undefined;
  readonly onChoose: (chosen: string) => void;
}

/** As wide as the page: a drawing that is wider is made smaller, down to what can be read. */
function Canvas({ drawn, chosen, onChoose }: CanvasProps) {
  const area = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(1000);
  // The panel beside it takes room, and so does a window that gets smaller.
  useEffect(() => {
    const { current } = area;
    if (current === null) return undefined;
    const watching = new ResizeObserver(() => setRoom(current.clientWidth));
    watching.observe(current);
    return () => watching.disconnect();
  }, []);
  if (drawn.names.length === 0) return <Empty>No dataset joins another.</Empty>;
  return (
    <div class="canvas" ref={area} tabIndex={0} role="region" aria-label="Graph">
      <GraphView {...drawn} room={room} chosen={chosen} onChoose={onChoose} />
    </div>
  );
}

function Legend() {
  return (
    <ul class="legend soft" aria-label="Lines">
      {(['declared', 'accepted', 'in_doubt'] as const).map((state) => (
        <li key={state}>
          <svg width="26" height="8" aria-hidden="true">
            <g class={`join join-${state}`}>
              <path class="line" d="M0 4H26" />
            </g>
          </svg>
          {{ declared: 'declared', accepted: 'found in the data', in_doubt: 'in doubt' }[state]}
        </li>
      ))}
    </ul>
  );
}

interface FinderProps {
  readonly graph: JoinGraph;
  readonly onFind: (name: string) => void;
}

function DatasetFinder({ graph, onFind }: FinderProps) {
  const find = (event: Event): void => {
    const { value } = event.currentTarget as HTMLInputElement;
    if (graph.datasets.some(({ name }) => name === value)) onFind(value);
  };
  return (
    <>
      <input
        class="finder"
        list="dataset-names"
        type="search"
        aria-label="Show the neighbourhood of a dataset"
        placeholder="Find a dataset"
        onChange={find}
        onInput={find}
      />
      <datalist id="dataset-names">
        {graph.datasets.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
