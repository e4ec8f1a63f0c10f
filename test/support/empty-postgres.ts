import { postgresPolicy } from '../../src/warehouse/drivers/postgres/policy.ts';
import type { GatePolicy } from '../../src/warehouse/gate/policy.ts';

const system = {
  database: 'shop',
  searchPath: ['public'],
  operators: ['+'],
  unaryFunctions: [],
  rowFunctions: [],
};
const user = {
  shadowingFunctions: [],
  operators: [],
  unaryFunctions: [],
  rowFunctions: [],
  columnsNamedLikeRowFunctions: [],
  safeTypes: [],
  unsafeTypes: [],
  userCasts: [],
};
/** The gate's policy for a database in which nobody has made anything. */
export const emptyPostgresPolicy = (): GatePolicy =>
  postgresPolicy(system, {
    loadUserObjects: () => Promise.resolve(user),
    loadExtensionFunctions: () => Promise.resolve(new Set<string>()),
    findPartitionedTable: () => Promise.resolve(undefined),
  });
