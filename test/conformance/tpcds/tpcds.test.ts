import { runBenchmark } from '../tpc.ts';
import { tpcdsTables } from './generate.ts';

await runBenchmark('TPC-DS', { folder: import.meta.dirname, published: 99, tables: tpcdsTables });
