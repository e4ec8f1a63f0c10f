import { graphlib, layout } from '@dagrejs/dagre';

/** A join of two tables, drawn from the many side to the one side. */
interface DrawnJoin {
  readonly from: string;
  readonly to: string;
  /** The columns of the many side, or the role. */
  readonly label: string;
  /** A dashed line: a person has to decide. */
  readonly isInDoubt: boolean;
}

interface DrawnGraph {
  readonly title: string;
  readonly joins: readonly DrawnJoin[];
  /** Tables without a join. */
  readonly alone?: readonly string[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

const rowHeight = 26;
const characterWidth = 7.3;
const labelCharacterWidth = 6.1;
const margin = 16;

const style = [
  'text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}',
  '.page{fill:#fff}',
  '.table{fill:#eef2ff;stroke:#6366f1}',
  '.name{fill:#1e1b4b;text-anchor:middle}',
  '.join{fill:none;stroke:#94a3b8;stroke-width:1.3}',
  '.doubt{stroke:#d97706;stroke-dasharray:5 4}',
  '.tip{fill:#94a3b8}',
  '.label{font-size:10px;fill:#475569;text-anchor:middle;stroke:#fff;stroke-width:4px;paint-order:stroke}',
].join('');

const arrow =
  '<defs><marker id="one" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" class="tip"/></marker></defs>';

/** The graph as the text of an SVG with a white background: light and dark pages show the same. */
export function drawSvg({ title, joins, alone = [] }: DrawnGraph): string {
  const graph = layOut(joins, alone);
  const { width = 0, height = 0 } = graph.graph();
  const box = (table: string): Box => ({ x: 0, y: 0, width: 0, height: 0, ...graph.node(table) });
  const lines = joins.map((join, index) =>
    join.from === join.to
      ? selfJoinSvg(join, box(join.from))
      : joinSvg(join, graph.edge(join.from, join.to, `${index}`)),
  );
  const labels = lines.map(({ label }) => label);
  const tables = graph.nodes().map((table: string) => tableSvg(table, box(table)));
  const size = [Math.ceil(width) + roomForLoops(joins), Math.ceil(height)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(' ')}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${style}</style>`,
    arrow,
    `<rect class="page" width="${size[0]}" height="${size[1]}" rx="8"/>`,
    ...lines.map(({ line }) => line),
    ...labels,
    ...tables,
    '</svg>',
    '',
  ].join('\n');
}

/** Loops of self-joins stand to the right of their tables, with their labels behind them. */
function roomForLoops(joins: readonly DrawnJoin[]): number {
  const loops = joins.filter(({ from, to }) => from === to);
  return Math.max(90, ...loops.map(({ label }) => 40 + label.length * labelCharacterWidth));
}

function layOut(joins: readonly DrawnJoin[], alone: readonly string[]) {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 46, marginx: margin, marginy: margin });
  for (const table of new Set([...joins.flatMap(({ from, to }) => [from, to]), ...alone]))
    graph.setNode(table, { width: table.length * characterWidth + 22, height: rowHeight });
  for (const [index, { from, to, label }] of joins.entries()) {
    if (from === to) continue;
    const width = label.length * labelCharacterWidth + 8;
    graph.setEdge(from, to, { width, height: 12, labelpos: 'c' }, `${index}`);
  }
  layout(graph);
  return graph;
}

interface JoinDrawing {
  readonly line: string;
  readonly label: string;
}

function joinSvg(
  { label, isInDoubt }: DrawnJoin,
  { points = [], x = 0, y = 0 }: { points?: readonly Point[]; x?: number; y?: number },
): JoinDrawing {
  const kind = isInDoubt ? 'join doubt' : 'join';
  return {
    line: `<path class="${kind}" marker-end="url(#one)" d="${smoothPath(points)}"/>`,
    label: labelSvg(label, { x, y }),
  };
}

function selfJoinSvg({ label, isInDoubt }: DrawnJoin, { x, y, width }: Box): JoinDrawing {
  const right = round(x + width / 2);
  const [top, bottom] = [round(y - 6), round(y + 6)];
  const curve = `M${right} ${top} C${right + 34} ${top - 22} ${right + 34} ${bottom + 22} ${right} ${bottom}`;
  const kind = isInDoubt ? 'join doubt' : 'join';
  return {
    line: `<path class="${kind}" marker-end="url(#one)" d="${curve}"/>`,
    label: labelSvg(label, { x: right + 32 + (label.length * labelCharacterWidth) / 2, y }),
  };
}

/** A line through the middles of its segments, with their ends as control points. */
function smoothPath(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return '';
  const curves = rest.slice(0, -1).map((control, index) => {
    const next = rest[index + 1] ?? last;
    const end =
      index === rest.length - 2
        ? last
        : { x: (control.x + next.x) / 2, y: (control.y + next.y) / 2 };
    return `Q${round(control.x)} ${round(control.y)} ${round(end.x)} ${round(end.y)}`;
  });
  const tail = curves.length === 0 ? [`L${round(last.x)} ${round(last.y)}`] : curves;
  return [`M${round(first.x)} ${round(first.y)}`, ...tail].join(' ');
}

function tableSvg(table: string, { x, y, width, height }: Box): string {
  const corner = `x="${round(x - width / 2)}" y="${round(y - height / 2)}"`;
  const box = `<rect class="table" ${corner} width="${round(width)}" height="${round(height)}" rx="5"/>`;
  return `${box}<text class="name" x="${round(x)}" y="${round(y + 4)}">${escapeXml(table)}</text>`;
}

function labelSvg(label: string, { x, y }: Point): string {
  return `<text class="label" x="${round(x)}" y="${round(y + 3)}">${escapeXml(label)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
  // No XML can hold these.
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  const plain = text.replaceAll(/[\u0000-\u001f\ufffe\uffff]/g, ' ').toWellFormed();
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
