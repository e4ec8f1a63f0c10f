import type { QueryRows, StatementEstimate } from '../../driver.ts';

/** Spark's units; it writes whole tables without statistics as `8.0 EiB`. */
const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const size = /Statistics\(sizeInBytes=([\d.]+(?:E\+?\d+)?) (\w+)/;
const title = '== Optimized Logical Plan ==\n';

/**
 * Reads the answer of EXPLAIN COST: the sizes of the tables that the statement reads, each as a
 * whole, since it says nothing of columns and files that are left out. No bytes where the size of
 * one is unknown.
 */
export function readCost({ rows }: QueryRows): StatementEstimate {
  const text = rows.map(([line]) => String(line ?? '')).join('\n');
  const [plan = ''] = text.split(title)[1]?.split(/\n\n|\n(?=== )/) ?? [];
  const lines = plan.split('\n').filter((line) => line !== '');
  // The tables are the leaves: what follows one is no deeper. A CTE is in the plan once more.
  const leaves = lines.filter(
    (line, index) =>
      depthOf(line) >= depthOf(lines[index + 1] ?? '') && !/CTERelationRef/.test(line),
  );
  const sizes = leaves.map(bytesOf);
  const bytes = sizes.reduce<number>((sum, leaf) => sum + leaf, 0);
  return { bytes: leaves.length === 0 || Number.isNaN(bytes) ? undefined : bytes, kind: 'upper' };
}

/** Where the name of an operator begins in a line of the tree. */
function depthOf(line: string): number {
  return /^[\s:|+-]*/.exec(line)?.[0].length ?? 0;
}

/** NaN if the line has no size, or one in a unit that stands for no statistics. */
function bytesOf(line: string): number {
  const [, amount = '', unit = ''] = size.exec(line) ?? [];
  const power = units.indexOf(unit);
  return power === -1 ? NaN : Math.round(Number(amount) * 1024 ** power);
}
