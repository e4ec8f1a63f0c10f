import type { CatalogTable } from '../../context/catalog/catalog.ts';
import type { TableProfile } from '../profile/table-profile.ts';

/** The columns of a table with the types of the times that their texts are, if all of them are. */
export function withTimeTypes(
  table: CatalogTable,
  profile: TableProfile | undefined,
): CatalogTable {
  const times = new Map(profile?.columns.map(({ name, time }) => [name, time]));
  const columns = table.columns.map((column) => {
    const time = column.type === 'string' ? times.get(column.name) : undefined;
    return time === undefined ? column : { ...column, type: time };
  });
  return { ...table, columns };
}
