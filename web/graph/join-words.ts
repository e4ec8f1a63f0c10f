import type { JoinGraph } from '../answers.ts';

type GraphJoin = JoinGraph['joins'][number];

/** `buyer_id = id`; nothing for a join that is a condition in SQL. */
export function columnsOf({ on }: Pick<GraphJoin, 'on'>): readonly string[] {
  return Object.entries(on).map(([own, target]) => `${own} = ${target}`);
}

/** `orders to customers as buyer, buyer_id = id` */
export function joinTitle(join: GraphJoin): string {
  const { from, to, role } = join;
  const named = role === to || role === '' ? '' : ` as ${role}`;
  return [`${from} to ${to}${named}`, ...columnsOf(join)].join(', ');
}
