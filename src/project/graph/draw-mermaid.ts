import type { JoinGraph } from './read-join-graph.ts';

/** How many rows of a dataset a join meets, at its start and at its end. */
const ends: Readonly<Record<string, readonly [from: string, to: string]>> = {
  many_to_one: ['}o', '||'],
  one_to_one: ['|o', '||'],
  one_to_many: ['||', 'o{'],
  many_to_many: ['}o', 'o{'],
};

/**
 * The graph as an entity relationship diagram of Mermaid: a line is a join in use, dots are one in
 * doubt. A dataset without joins stands alone.
 */
export function drawMermaid({ datasets, joins }: JoinGraph): string {
  const lines = joins.map(({ from, to, role, on, cardinality, state }) => {
    const [start, end] = ends[cardinality] ?? ['}o', 'o{'];
    const columns = Object.entries(on).map(([own, target]) => `${own} = ${target}`);
    const words = columns.length === 0 ? 'a condition' : columns.join(' and ');
    const label = role === to ? words : `${role}: ${words}`;
    const line = state === 'in_doubt' ? '..' : '--';
    return `  ${quote(from)} ${start}${line}${end} ${quote(to)} : ${quote(label)}`;
  });
  const joined = new Set(joins.flatMap(({ from, to }) => [from, to]));
  const alone = datasets.filter(({ name }) => !joined.has(name));
  return ['erDiagram', ...lines, ...alone.map(({ name }) => `  ${quote(name)}`)].join('\n');
}

/** In a name, Mermaid reads no quote, line break or percent sign, but their numbers. */
function quote(text: string): string {
  const escaped = text.replaceAll(/["\n\r%\\]/g, (sign) => `#${sign.codePointAt(0)};`);
  return `"${escaped}"`;
}
