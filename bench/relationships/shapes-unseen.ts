import type { GeneratedDatabase } from './generated-database.ts';
import { buildDatabase } from './schema-builder.ts';
import { bank } from './shapes-unseen/bank.ts';
import { bicycles } from './shapes-unseen/bicycles.ts';
import { calendar } from './shapes-unseen/calendar.ts';
import { chinese } from './shapes-unseen/chinese.ts';
import { decisions } from './shapes-unseen/decisions.ts';
import { exchange } from './shapes-unseen/exchange.ts';
import { game } from './shapes-unseen/game.ts';
import { natural } from './shapes-unseen/natural.ts';
import { ones } from './shapes-unseen/ones.ts';
import { russian } from './shapes-unseen/russian.ts';
import { sap } from './shapes-unseen/sap.ts';
import { subscriptions } from './shapes-unseen/subscriptions.ts';

/**
 * Schemas of warehouses and applications, written by hand before any rule was changed. They are
 * only scored: nothing was developed on them.
 */
export const shapesUnseen: Readonly<Record<string, () => GeneratedDatabase>> = Object.fromEntries(
  Object.entries({
    sap,
    game,
    russian,
    chinese,
    natural,
    ones,
    decisions,
    exchange,
    subscriptions,
    bank,
    bicycles,
    calendar,
  }).map(([name, schema]) => [name, () => buildDatabase(name, schema)]),
);
