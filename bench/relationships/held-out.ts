import type { GeneratedDatabase } from './generated-database.ts';
import { buildDatabase } from './schema-builder.ts';
import { clinic } from './held-out/clinic.ts';
import { german } from './held-out/german.ts';
import { racing } from './held-out/racing.ts';
import { star } from './held-out/star.ts';
import { tracker } from './held-out/tracker.ts';
import { trade } from './held-out/trade.ts';

/**
 * Schemas in styles that the generator does not produce, written by hand. Nothing is trained on
 * them.
 */
export const heldOut: Readonly<Record<string, () => GeneratedDatabase>> = Object.fromEntries(
  Object.entries({ star, german, tracker, racing, trade, clinic }).map(([name, schema]) => [
    name,
    () => buildDatabase(name, schema),
  ]),
);
