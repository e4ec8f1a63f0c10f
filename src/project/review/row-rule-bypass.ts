import { isSameDatabase } from '../../warehouse/same-database.ts';
import type { Project } from '../open/open.ts';

/**
 * A connection without row rules to a database that another connection protects with row rules: it
 * shows every row.
 */
export interface RowRuleBypass {
  readonly connection: string;
  /** The connection that has the row rules. */
  readonly ruled: string;
}

/** Compares the settings in `ktx.yaml`; connects to nothing. */
export async function findRowRuleBypasses(project: Project): Promise<readonly RowRuleBypass[]> {
  const models = await Promise.all(
    project.warehouses.map(async (name) => ({ name, ...(await project.model(name)) })),
  );
  const ruled = models.filter(({ model }) => model.hasRules);
  const unruled = models.filter(({ model }) => !model.hasRules);
  const databases = new Map(
    await Promise.all(
      project.warehouses.map(async (name) => {
        const { config } = project.connection(name);
        return [name, { config, secrets: await project.trust.connectionSecrets(name) }] as const;
      }),
    ),
  );
  const isSame = (a: string, b: string): boolean => {
    const [first, second] = [databases.get(a), databases.get(b)];
    return (
      first !== undefined && second !== undefined && isSameDatabase(first, second, project.dir)
    );
  };
  return unruled.flatMap(({ name: connection }) =>
    ruled
      .filter(({ name }) => isSame(connection, name))
      .map(({ name }) => ({ connection, ruled: name })),
  );
}
