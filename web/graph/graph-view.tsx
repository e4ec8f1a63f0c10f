import { memo } from 'preact/compat';
import { useMemo, useState } from 'preact/hooks';
import type { JoinGraph } from '../answers.ts';
import { visible } from '../parts/text.ts';
import { layOut, mostAiry, type PlacedDataset, type PlacedJoin, type Point } from './layout.ts';
import { joinTitle } from './join-words.ts';
import { placeLabels } from './place-labels.ts';

type GraphJoin = JoinGraph['joins'][number];

interface GraphViewProps {
  readonly names: readonly string[];
  readonly joins: readonly GraphJoin[];
  /** Pixels that the page has for it. */
  readonly room: number;
  /** The dataset or the join that is shown beside it. */
  readonly chosen: string | undefined;
  readonly onChoose: (chosen: string) => void;
}

/** The datasets and their joins: thick if declared, dashed if in doubt. */
export function GraphView({ names, joins, room, chosen, onChoose }: GraphViewProps) {
  const drawing = useMemo(() => layOut(names, joins, room), [names, joins, room]);
  const [pointed, point] = useState<string | undefined>(undefined);
  const focus = pointed ?? chosen;
  const near = nearOf(drawing.joins, focus);
  const { width, height } = drawing;
  const labels = useMemo(() => placeLabels(drawing.datasets, drawing.joins), [drawing]);
  const isLit = (name: string) => near === undefined || near.has(name);
  return (
    <svg
      class={names.length > mostAiry ? 'graph dense' : 'graph'}
      viewBox={`-2 -2 ${width + 4} ${height + 4}`}
      width={width + 4}
      height={height + 4}
      role="group"
      aria-label="Join graph"
      onMouseLeave={() => point(undefined)}
    >
      <defs>
        <marker
          id="tip"
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerUnits="userSpaceOnUse"
          markerWidth="7"
          markerHeight="7"
          orient="auto"
        >
          <path d="M0 1 7 4 0 7z" />
        </marker>
      </defs>
      {drawing.joins.map((placed) => (
        <Join
          key={placed.join.subject}
          placed={placed}
          look={joinLook(placed.join, focus)}
          label={labels.get(placed.join.subject)}
          onChoose={onChoose}
        />
      ))}
      {drawing.datasets.map((dataset) => (
        <DatasetNode
          key={dataset.name}
          dataset={dataset}
          look={`${isLit(dataset.name) ? '' : ' dim'}${dataset.name === focus ? ' lit' : ''}`}
          onChoose={onChoose}
          onPoint={point}
        />
      ))}
    </svg>
  );
}

/** The datasets that stay bright; undefined if all do. */
function nearOf(
  joins: readonly PlacedJoin[],
  focus: string | undefined,
): ReadonlySet<string> | undefined {
  if (focus === undefined) return undefined;
  const ends = joins
    .filter(({ join }) => [join.from, join.to, join.subject].includes(focus))
    .flatMap(({ join }) => [join.from, join.to]);
  return new Set([focus, ...ends]);
}

function joinLook({ subject, from, to }: GraphJoin, focus: string | undefined): string {
  if (focus === undefined) return '';
  return [subject, from, to].includes(focus) ? ' lit' : ' dim';
}

interface JoinProps {
  readonly placed: PlacedJoin;
  /** Where its role stands. */
  readonly label: Point | undefined;
  readonly look: string;
  readonly onChoose: (chosen: string) => void;
}

/** The table below the graph leads to the same for whoever uses no mouse. */
const Join = memo(({ placed: { join, points }, look, label, onChoose }: JoinProps) => {
  const path = curve(points);
  return (
    <g class={`join join-${join.state}${look}`} onClick={() => onChoose(join.subject)}>
      <path class="line" d={path} marker-end="url(#tip)" />
      <path class="catch" d={path}>
        <title>{visible(joinTitle(join))}</title>
      </path>
      {label !== undefined ? (
        <text class="role" x={label.x} y={label.y}>
          {visible(join.role)}
        </text>
      ) : null}
    </g>
  );
});

interface NodeProps {
  readonly dataset: PlacedDataset;
  readonly look: string;
  readonly onChoose: (chosen: string) => void;
  readonly onPoint: (name: string | undefined) => void;
}

const DatasetNode = memo(({ dataset, look, onChoose, onPoint }: NodeProps) => {
  const { name, x, y, width, height } = dataset;
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    onChoose(name);
  };
  return (
    <g
      class={`node${look}`}
      role="button"
      tabIndex={0}
      aria-label={visible(name)}
      onClick={() => onChoose(name)}
      onKeyDown={press}
      onMouseEnter={() => onPoint(name)}
      onMouseLeave={() => onPoint(undefined)}
    >
      <rect x={x - width / 2} y={y - height / 2} width={width} height={height} rx={5} />
      <text x={x} y={y + 4}>
        {visible(name)}
      </text>
    </g>
  );
});

/** A curve that leaves and arrives sideways, as the layers do. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const [side, back] = rest;
  if (side !== undefined && back !== undefined && back.x < side.x)
    return `M${round(first.x)} ${round(first.y)}C${round(side.x + 4)} ${round(first.y - 6)} ${round(side.x + 4)} ${round(back.y + 6)} ${round(back.x)} ${round(back.y)}`;
  let last = first;
  const parts = rest.map((next) => {
    const bend = (next.x - last.x) / 2;
    const part = `C${round(last.x + bend)} ${round(last.y)} ${round(next.x - bend)} ${round(next.y)} ${round(next.x)} ${round(next.y)}`;
    last = next;
    return part;
  });
  return `M${round(first.x)} ${round(first.y)}${parts.join('')}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
