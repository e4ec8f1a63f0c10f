import { parseSubject } from '../../context/claims/subject.ts';
import { UserError } from '../../lib/error.ts';
import type { SemanticQuery } from '../../semantic/query/query.ts';

interface NamedQuery {
  readonly connection?: string | undefined;
  readonly query: SemanticQuery;
}

/**
 * The query with names in place of the subjects that `ktx search` and `ktx explain` print, such as
 * `metric:shop.orders.revenue`, and the connection that they name. Throws `connection_conflict` if
 * they name another one than the request or each other.
 */
export function withoutSubjects(request: NamedQuery): NamedQuery {
  const { query } = request;
  const connections = new Set(request.connection === undefined ? [] : [request.connection]);
  const nameOf = (text: string): string => {
    const [, subject = '', grain = ''] =
      /^((?:metric|field):[^.]+\.[^.]+\.[^.]+)(\.\w+)?$/.exec(text) ?? [];
    const parts = parseSubject(subject);
    if (parts === undefined) return text;
    connections.add(parts.connection);
    return `${parts.dataset}.${parts.name}${grain}`;
  };
  const metrics = query.metrics.map((metric) =>
    typeof metric === 'string' ? nameOf(metric) : metric,
  );
  const dimensions = query.dimensions.map(nameOf);
  const order_by = query.order_by.map(({ field, dir }) => ({ field: nameOf(field), dir }));
  const [connection, ...others] = connections;
  if (others.length > 0)
    throw new UserError(
      'connection_conflict',
      `This query names several connections: ${[...connections].join(', ')}.`,
      { hint: 'A query reads one connection. Ask for each one alone.', exitCode: 2 },
    );
  return { connection, query: { ...query, metrics, dimensions, order_by } };
}
