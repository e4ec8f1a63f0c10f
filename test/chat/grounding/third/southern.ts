import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech, withSql } from './kit.ts';

const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const it = speech('it-IT', '');
const pt = speech('pt-BR', '');

export const southern: readonly Telling[] = [
  told('3-fr-ca', "Quel est le chiffre d'affaires par région ?", (dice) => {
    const rows = ranked(dice, 'Île-de-France|Bretagne|Occitanie', [300_000, 5_000_000]);
    return [
      [rowsOf('q1', 'region ca', ...rows)],
      `Le chiffre d'affaires total est de ${fr.s(sum(rows), [1e6, ' M'], 2)} €. L'{m:Île-de-France~Occitanie}
      arrive en tête avec ${fr.n(at(rows, 0)[1])} € (${fr.p(at(rows, 0)[1] / sum(rows))}), devant la Bretagne
      (${fr.n(at(rows, 1)[1])} €) et l'Occitanie (${fr.n(at(rows, 2)[1])} €) [q1].`,
    ];
  }),
  told('3-fr-evolution', 'Comment ont évolué les ventes entre 2023 et 2024 ?', (dice) => {
    const [a, b] = [dice.between(20_000, 90_000), dice.between(20_000, 90_000)];
    return [
      [rowsOf('q1', 'annee ventes', [2023, a], [2024, b])],
      `Les ventes sont passées de ${fr.n(a)} unités en 2023 à ${fr.n(b)} en 2024, soit une
      ${way(a, b, ['hausse', 'baisse'])} de ${fr.p(Math.abs(growth(a, b)))}
      (${fr.n(Math.abs(b - a))} unités) [q1].`,
    ];
  }),
  told('3-fr-delai', 'Quel est le délai moyen de livraison ?', (dice) => {
    const [days, orders] = [dice.between(21, 58) / 10, dice.between(3000, 9000)];
    const late = part(orders, 0.06 + dice.next() / 12);
    return [
      [
        withSql(
          "SELECT AVG(delai) AS delai_moyen, COUNT(*) AS commandes, COUNT(*) FILTER (WHERE delai > 5) AS en_retard FROM livraisons WHERE livre_le >= '2025-04-01' AND livre_le < '2025-07-01'",
          rowsOf('q1', 'delai_moyen commandes en_retard', [days, orders, late]),
        ),
      ],
      `Au 2e trimestre 2025, le délai moyen était de ${fr.n(days, 1)} jours. ${fr.n(late)} commandes sur
      ${fr.n(orders)} (${fr.p(late / orders)}) ont mis plus de 5 jours [q1].`,
    ];
  }),
  told('3-fr-liste', 'Quels sont les 3 produits les plus vendus ?', (dice) => {
    const rows = ranked(dice, 'Café moulu|Thé vert|Sirop', [2000, 9000]);
    const lines = rows.map(
      ([name, value], index) => `${index + 1}. ${name} : ${fr.n(value)} unités`,
    );
    return [
      [
        withSql(
          'SELECT produit, SUM(qte) AS unites FROM lignes GROUP BY 1 ORDER BY 2 DESC LIMIT 3',
          rowsOf('q1', 'produit unites', ...rows),
        ),
      ],
      `${lines.join('\n')}

      L'écart entre le premier et le troisième est de ${fr.n(at(rows, 0)[1] - at(rows, 2)[1])} unités. [q1]`,
    ];
  }),
  told('3-fr-budget', 'Avons-nous respecté le budget ?', (dice) => {
    const [plan, real] = [dice.between(200_000, 400_000), dice.between(200_000, 400_000)];
    return [
      [rowsOf('q1', 'service budget depense', ['Marketing', plan, real])],
      `Le service Marketing a dépensé ${fr.n(real)} € pour un budget de ${fr.n(plan)} €, soit
      ${fr.p(real / plan)} du budget et ${fr.n(Math.abs(real - plan))} € de
      ${way(plan, real, ['plus', 'moins'])} que prévu [q1].`,
    ];
  }),
  told('3-fr-heures', 'Combien d’heures supplémentaires en juin ?', (dice) => {
    const [minutes, people] = [dice.between(9000, 30_000), dice.between(20, 80)];
    return [
      [rowsOf('q1', 'minutes_sup salaries', [minutes, people])],
      `En juin, ${fr.n(people)} salariés ont fait ${fr.n(minutes / 60)} heures supplémentaires, soit environ
      ${fr.n(minutes / 60 / people, 1)} h par personne [q1].`,
    ];
  }),
  told('3-es-ventas', '¿Cuánto vendimos por tienda en mayo?', (dice) => {
    const rows = ranked(dice, 'Madrid|Sevilla|Valencia', [40_000, 400_000]);
    return [
      [rowsOf('q1', 'tienda ventas', ...rows)],
      `En mayo se vendieron ${es.n(sum(rows))} € en las tres tiendas. {m:Madrid~Valencia} lidera con
      ${es.n(at(rows, 0)[1])} € (el ${es.p(at(rows, 0)[1] / sum(rows), 0)} del total), seguida de Sevilla con
      ${es.n(at(rows, 1)[1])} € y Valencia con ${es.n(at(rows, 2)[1])} € [q1].`,
    ];
  }),
  told('3-es-millones', '¿Cuál fue el beneficio de 2024?', (dice) => {
    const income = dice.between(5e6, 12e6);
    const costs = part(income, 0.7 + dice.next() / 6);
    return [
      [rowsOf('q1', 'ingresos gastos', [income, costs])],
      `El beneficio fue de ${es.s(income - costs, [1e6, ' millones'], 2)} de euros: ingresos de
      ${es.s(income, [1e6, ' millones'], 2)} menos gastos de ${es.s(costs, [1e6, ' millones'], 2)}. El margen es
      del ${es.p(1 - costs / income)} [q1].`,
    ];
  }),
  told('3-es-comparar', '¿Han mejorado los tiempos de respuesta?', (dice) => {
    const [a, b] = [dice.between(20, 90), dice.between(20, 90)];
    return [
      [rowsOf('q1', 'mes minutos', ['2025-01', a], ['2025-06', b])],
      `El tiempo medio de respuesta pasó de ${es.n(a)} minutos en enero a ${es.n(b)} minutos en junio de 2025,
      ${es.n(Math.abs(b - a))} minutos ${way(a, b, ['más', 'menos'])} (${es.sp(growth(a, b))}) [q1].`,
    ];
  }),
  told('3-es-clientes', '¿Cuántos clientes compraron más de una vez?', (dice) => {
    const all = dice.between(3000, 9000);
    const more = part(all, 0.2 + dice.next() / 5);
    return [
      [
        withSql(
          'SELECT COUNT(*) AS clientes, COUNT(*) FILTER (WHERE pedidos > 1) AS repiten FROM c',
          rowsOf('q1', 'clientes repiten', [all, more]),
        ),
      ],
      `De ${es.n(all)} clientes, ${es.n(more)} compraron más de una vez (${es.p(more / all)}); los otros
      ${es.n(all - more)} solo compraron 1 vez [q1].`,
    ];
  }),
  told('3-it-ricavi', 'Quali sono i ricavi per linea nel 2024?', (dice) => {
    const rows = ranked(dice, 'Pasta|Olio|Vino', [200_000, 2_000_000]);
    const lines = rows.map(
      ([name, value]) => `- **${name}**: ${it.n(value)} € (${it.p(value / sum(rows))})`,
    );
    return [
      [rowsOf('q1', 'linea ricavi', ...rows)],
      `Ricavi 2024 per linea [q1]:
      ${lines.join('\n')}

      Totale: ${it.n(sum(rows))} €, circa ${it.s(sum(rows), [1e6, ' milioni'])} di euro.`,
    ];
  }),
  told('3-it-crescita', 'Le iscrizioni sono aumentate?', (dice) => {
    const [a, b] = [dice.between(900, 4000), dice.between(900, 4000)];
    return [
      [rowsOf('q1', 'trimestre iscrizioni', ['2025-Q1', a], ['2025-Q2', b])],
      `Nel secondo trimestre del 2025 le iscrizioni sono state ${it.n(b)}, contro le ${it.n(a)} del primo:
      ${way(a, b, ['un aumento', 'un calo'])} del ${it.p(Math.abs(growth(a, b)))} [q1].`,
    ];
  }),
  told('3-it-media', 'Qual è lo scontrino medio?', (dice) => {
    const [total, receipts] = [dice.between(100_000, 300_000), dice.between(2000, 6000)];
    return [
      [rowsOf('q1', 'incasso scontrini', [total, receipts])],
      `Lo scontrino medio è di ${it.n(total / receipts, 2)} € (${it.n(total)} € ÷ ${it.n(receipts)}
      scontrini) [q1].`,
    ];
  }),
  told('3-pt-receita', 'Qual foi a receita por estado?', (dice) => {
    const rows = ranked(dice, 'São Paulo|Minas Gerais|Bahia', [400_000, 6_000_000]);
    return [
      [rowsOf('q1', 'estado receita', ...rows)],
      `A receita total foi de R$ ${pt.n(sum(rows))}. {m:São Paulo~Bahia} respondeu por
      ${pt.p(at(rows, 0)[1] / sum(rows))} (R$ ${pt.s(at(rows, 0)[1], [1e6, ' milhões'], 2)}), Minas Gerais por
      ${pt.p(at(rows, 1)[1] / sum(rows))} e Bahia por ${pt.p(at(rows, 2)[1] / sum(rows))} [q1].`,
    ];
  }),
  told('3-pt-mes', 'Como foi junho em relação a maio?', (dice) => {
    const rows = walk(dice, '2025-05|2025-06', 80_000);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', 'mes pedidos', ...rows)],
      `Foram ${pt.n(b)} pedidos em junho de 2025, contra ${pt.n(a)} em maio: variação de
      ${pt.sp(growth(a, b))}, ou ${pt.n(Math.abs(b - a))} pedidos a ${way(a, b, ['mais', 'menos'])} [q1].`,
    ];
  }),
  told('3-pt-falta', 'Quantas faltas houve por turma?', (dice) => {
    const rows = ['7A', '7B', '8A'].map(
      (name) => [name, dice.between(22, 34), dice.between(30, 160)] as const,
    );
    const lines = rows.map(
      ([name, pupils, missed]) =>
        `- Turma ${name}: ${pt.n(missed)} faltas (${pt.n(missed / pupils, 1)} por aluno)`,
    );
    return [
      [rowsOf('q1', 'turma alunos faltas', ...rows)],
      `${lines.join('\n')}

      No total, ${pt.n(column(rows, 2))} faltas de ${pt.n(column(rows, 1))} alunos [q1].`,
    ];
  }),
  told('3-fr-taux', 'Quel est le taux de conversion mobile et ordinateur ?', (dice) => {
    const rows = ['mobile', 'ordinateur'].map((name) => {
      const visits = dice.between(20_000, 90_000);
      return [name, visits, part(visits, 0.012 + dice.next() / 40)] as const;
    });
    const rate = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    return [
      [rowsOf('q1', 'appareil visites commandes', ...rows)],
      `| Appareil | Visites | Commandes | Taux |
      |---|---|---|---|
      | Mobile | ${fr.n(at(rows, 0)[1])} | ${fr.n(at(rows, 0)[2])} | ${fr.p(rate(0), 2)} |
      | Ordinateur | ${fr.n(at(rows, 1)[1])} | ${fr.n(at(rows, 1)[2])} | ${fr.p(rate(1), 2)} |

      L'écart est de ${fr.n(Math.abs(rate(0) - rate(1)) * 100, 2)} point de pourcentage ; le taux global
      s'établit à ${fr.p(column(rows, 2) / column(rows, 1), 2)} [q1].`,
    ];
  }),
];
