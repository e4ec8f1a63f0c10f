import { rowsOf } from '../blind/answer.ts';
import { at, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { part, speech, withSql } from './kit.ts';

const { n, p } = speech('en-GB', '');

export const operations: readonly Telling[] = [
  told('3-sports', 'How good is our away record this season?', (dice) => {
    const [won, drawn, lost] = [dice.between(6, 12), dice.between(2, 5), dice.between(3, 9)];
    const games = won + drawn + lost;
    const goals = dice.between(21, 49);
    return [
      [
        withSql(
          "SELECT SUM(w) AS won, SUM(d) AS drawn, SUM(l) AS lost, SUM(gf) AS goals FROM games WHERE season = '2024/25' AND venue = 'away'",
          rowsOf('q1', 'won drawn lost goals', [won, drawn, lost, goals]),
        ),
      ],
      `In 2024/25 we won ${n(won)} of ${n(games)} away games (${p(won / games, 0)}), drew ${n(drawn)} and lost
      ${n(lost)}. We scored ${n(goals)} goals, i.e. ${n(goals / games, 1)} per game, and took
      ${n(won * 3 + drawn)} points (3 for a win, 1 for a draw) [q1].`,
    ];
  }),
  told('3-fuel', 'What is the fuel consumption of the vans?', (dice) => {
    const [litres, km] = [dice.between(3000, 9000), dice.between(40_000, 90_000)];
    return [
      [rowsOf('q1', 'vans litres km', [14, litres, km])],
      `The 14 vans used ${n(litres)} litres over ${n(km)} km, or ${n((litres / km) * 100, 1)} l/100 km. That's
      ${n(km / 14)} km per van [q1].`,
    ];
  }),
  told('3-nulls', 'How complete is the customer table?', (dice) => {
    const all = dice.between(9000, 50_000);
    const [email, phone, birth] = [0.97, 0.6, 0.2].map((share) =>
      part(all, share + dice.next() / 50),
    ) as [number, number, number];
    return [
      [rowsOf('q1', 'rows with_email with_phone with_birthday', [all, email, phone, birth])],
      `Of ${n(all)} rows:
      1. \`email\` is filled in ${n(email)} (${p(email / all)}), missing in ${n(all - email)}
      2. \`phone\` is filled in ${n(phone)} (${p(phone / all)}), missing in ${n(all - phone)}
      3. \`birthday\` is filled in ${n(birth)} (${p(birth / all)}), missing in ${n(all - birth)}

      [q1]`,
    ];
  }),
  told('3-streak', 'How did signups develop over the last weeks?', (dice) => {
    const rows = walk(dice, '2025-05-05|2025-05-12|2025-05-19|2025-05-26', 600);
    const best = at(
      [...rows].sort((left, right) => right[1] - left[1]),
      0,
    );
    return [
      [rowsOf('q1', 'week_start signups', ...rows)],
      `Over the 4 weeks from 5 May to 1 June 2025 there were ${n(sum(rows))} signups, ${n(sum(rows) / 4)} a
      week. The best week started on {p:${Number(best[0].slice(8))} May~${Number(best[0].slice(8)) + 2} May}
      (${n(best[1])}). The last week had ${n(at(rows, 3)[1])}, ${way(at(rows, 2)[1], at(rows, 3)[1], ['up', 'down'])}
      from ${n(at(rows, 2)[1])} the week before [q1].`,
    ];
  }),
];
