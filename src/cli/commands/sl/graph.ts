import { Option } from '@commander-js/extra-typings';
import { formatCount } from '../../../lib/format-count.ts';
import type { JoinGraph } from '../../../project/graph/read-join-graph.ts';
import { defineCommand } from '../../command.ts';

export const graphCommand = defineCommand({
  description:
    'Shows the graph of joins: each dataset with its key, and each join with how sure it is: declared by somebody, accepted from ' +
    'the data, or in doubt.',
  examples: [
    ['ktx sl graph --json', 'datasets and joins with what was measured'],
    ['ktx sl graph --mermaid > joins.mmd', 'a diagram for Markdown, GitHub and wikis'],
    ['ktx sl graph --svg > joins.svg', 'a picture that browsers and documents show'],
  ],
  hasRows: true,
  define: (command) =>
    command
      .option('--connection <name>', 'the warehouse, if there are several')
      .addOption(
        new Option('--mermaid', 'print a diagram in the language of Mermaid').conflicts('svg'),
      )
      .option('--svg', 'print a picture as SVG; a dashed line is a join in doubt'),
  async run({ options }, context) {
    const { readJoinGraph } = await import('../../../project/graph/read-join-graph.ts');
    const graph = await readJoinGraph(await context.project(), options.connection);
    if (options.mermaid) {
      const { drawMermaid } = await import('../../../project/graph/draw-mermaid.ts');
      const diagram = drawMermaid(graph);
      return { data: { ...graph, mermaid: diagram }, verbatim: true, text: diagram };
    }
    if (options.svg) {
      const picture = await pictureOf(graph);
      return { data: { ...graph, svg: picture }, verbatim: true, text: picture.trimEnd() };
    }
    const columns = ['from', 'to', 'role', 'on', 'state'].map((name) => ({ name }));
    const rows = graph.joins.map(({ from, to, role, on, state }) => [
      from,
      to,
      role === to ? '' : role,
      Object.entries(on)
        .map(([own, target]) => `${own} = ${target}`)
        .join(' and '),
      state.replace('_', ' '),
    ]);
    const doubts = graph.joins.filter(({ state }) => state === 'in_doubt').length;
    return {
      data: graph,
      verbatim: true,
      table: { columns, rows },
      notes: [
        `${formatCount(graph.datasets.length, 'dataset')}, ${formatCount(graph.joins.length, 'join')}`,
      ],
      next: doubts === 0 ? [] : [['ktx review', 'decides about the joins in doubt']],
    };
  },
});

async function pictureOf({ connection, datasets, joins }: JoinGraph): Promise<string> {
  const { drawSvg } = await import('../../../project/graph/draw-svg.ts');
  const joined = new Set(joins.flatMap(({ from, to }) => [from, to]));
  return drawSvg({
    title: `The joins of ${connection}`,
    joins: joins.map(({ from, to, role, on, state }) => ({
      from,
      to,
      label: role === to ? Object.keys(on).join(', ') : role,
      isInDoubt: state === 'in_doubt',
    })),
    alone: datasets.map(({ name }) => name).filter((name) => !joined.has(name)),
  });
}
