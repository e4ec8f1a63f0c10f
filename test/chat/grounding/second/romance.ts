import { rowsOf, writer } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from './kit.ts';

const fr = writer('fr-FR');
const es = writer('es-ES');
const pt = writer('pt-BR');
const it = writer('it-IT');

export const romance: readonly Telling[] = [
  told('fr-ca', 'Quel est le chiffre d’affaires par région ?', (dice) => {
    const rows = ranked(dice, 'Île-de-France|Bretagne|Occitanie', [200_000, 3_400_000]);
    return [
      [rowsOf('q1', 'region chiffre_affaires', ...rows)],
      `Le chiffre d’affaires total s’élève à ${fr.n(sum(rows))} €. {m:L’Île-de-France~L’Occitanie} arrive
      en tête avec ${fr.s(at(rows, 0)[1], [1e6, ' M'], 2)}€, soit ${fr.p(at(rows, 0)[1] / sum(rows))}
      du total [q1].`,
    ];
  }),
  told('fr-evolution', 'Comment ont évolué les ventes ?', (dice) => {
    const [a, b] = [dice.between(12_000, 44_000), dice.between(12_000, 44_000)];
    return [
      [rowsOf('q1', 'annee ventes', [2023, a], [2024, b])],
      `Les ventes ${way(a, b, ['ont augmenté', 'ont baissé'])} de ${fr.p(Math.abs(growth(a, b)))} : elles
      sont passées de ${fr.n(a)} en 2023 à ${fr.n(b)} en 2024, soit un écart de
      ${fr.n(Math.abs(b - a))} unités [q1].`,
    ];
  }),
  told('fr-trimestre', 'Quel a été le meilleur trimestre ?', (dice) => {
    const rows = walk(dice, '2024-T1|2024-T2|2024-T3|2024-T4', 800_000);
    const sorted = [...rows].sort((left, right) => right[1] - left[1]);
    const [best, worst] = [at(sorted, 0), at(sorted, -1)];
    return [
      [rowsOf('q1', 'trimestre revenu', ...rows)],
      `Le meilleur trimestre est le {p:${best[0].slice(5)} 2024~${worst[0].slice(5)} 2023} avec
      ${fr.n(best[1])} €. Le plus faible est le ${worst[0].slice(5)} (${fr.n(worst[1])} €). La moyenne
      trimestrielle est de ${fr.n(sum(rows) / 4)} € [q1].`,
    ];
  }),
  told('fr-manque', 'Combien de clients sont satisfaits ?', (dice) => {
    const all = dice.between(2000, 9000);
    return [
      [rowsOf('q1', 'clients', [all])],
      `Je ne peux pas le dire : aucune table ne contient de note de satisfaction. Je vois seulement que la
      base compte ${fr.n(all)} clients [q1].`,
    ];
  }),
  told('fr-liste', 'Les trois catégories les plus vendues ?', (dice) => {
    const rows = ranked(dice, 'Livres|Jeux|Musique', [900, 22_000]);
    return [
      [rowsOf('q1', 'categorie articles', ...rows)],
      `Voici les 3 premières catégories [q1] :

      1. Livres : ${fr.n(at(rows, 0)[1])} articles
      2. Jeux : ${fr.n(at(rows, 1)[1])} articles
      3. Musique : ${fr.n(at(rows, 2)[1])} articles

      Les livres se vendent ${fr.n(at(rows, 0)[1] / at(rows, 2)[1], 1)} fois plus que la musique.`,
    ];
  }),
  told('es-ventas', '¿Cuánto vendimos por país?', (dice) => {
    const rows = ranked(dice, 'México|Colombia|Chile', [150_000, 2_900_000]);
    return [
      [rowsOf('q1', 'pais ventas', ...rows)],
      `{m:México~Chile} lidera con ${es.n(at(rows, 0)[1])} USD (${es.p(at(rows, 0)[1] / sum(rows))} del
      total), seguido de Colombia con ${es.n(at(rows, 1)[1])} USD y Chile con
      ${es.n(at(rows, 2)[1])} USD. En total fueron
      ${es.s(sum(rows), [1e6, ' millones'], 2)} de dólares [q1].`,
    ];
  }),
  told('es-cambio', '¿Cómo cambió el número de pedidos?', (dice) => {
    const [a, b] = [dice.between(4100, 9800), dice.between(4100, 9800)];
    return [
      [rowsOf('q1', 'pedidos', [a]), rowsOf('q2', 'pedidos', [b])],
      `En marzo hubo ${es.n(a)} pedidos [q1] y en abril ${es.n(b)} {c:[q2]~[q8]}: una variación del
      ${es.p(Math.abs(growth(a, b)))}, es decir, ${es.n(Math.abs(b - a))} pedidos
      ${way(a, b, ['más', 'menos'])}.`,
    ];
  }),
  told('es-ticket', '¿Cuál es el ticket medio?', (dice) => {
    const [pedidos, ingresos] = [dice.between(1100, 7000), dice.between(90_000, 610_000)];
    return [
      [rowsOf('q1', 'pedidos ingresos', [pedidos, ingresos])],
      `El ticket medio es de ${es.n(ingresos / pedidos, 2)} € (${es.n(ingresos)} € entre
      ${es.n(pedidos)} pedidos) [q1].`,
    ];
  }),
  told('es-inactivos', '¿Qué porcentaje de usuarios está inactivo?', (dice) => {
    const [all, active] = [dice.between(12_000, 40_000), dice.between(2500, 11_000)];
    return [
      [rowsOf('q1', 'usuarios activos', [all, active])],
      `De los ${es.n(all)} usuarios, ${es.n(active)} están activos. Por tanto, el
      ${es.p(1 - active / all)} está inactivo: ${es.n(all - active)} usuarios [q1].`,
    ];
  }),
  told('pt-receita', 'Qual foi a receita no 1º semestre?', (dice) => {
    const rows = walk(dice, 'janeiro|fevereiro|março|abril|maio|junho', 150_000);
    return [
      [rowsOf('q1', 'mes receita', ...rows)],
      `A receita do 1º semestre foi de R$ ${pt.n(sum(rows))}, em média R$ ${pt.n(sum(rows) / 6)} por mês.
      Em {p:janeiro~outubro} foram R$ ${pt.n(at(rows, 0)[1])} e em junho
      R$ ${pt.n(at(rows, 5)[1])}, ou seja, junho ficou
      ${way(at(rows, 0)[1], at(rows, 5)[1], ['acima', 'abaixo'])} de janeiro em
      ${pt.p(Math.abs(growth(at(rows, 0)[1], at(rows, 5)[1])), 1, '%')} [q1].`,
    ];
  }),
  told('pt-clientes', 'Quantos clientes novos tivemos?', (dice) => {
    const [novos, todos] = [dice.between(310, 980), dice.between(3000, 9000)];
    return [
      [rowsOf('q1', 'clientes_novos clientes_total', [novos, todos])],
      `Tivemos ${pt.n(novos)} clientes novos, cerca de ${pt.p(novos / todos, 0, '%')} dos ${pt.n(todos)}
      clientes. Os outros ${pt.n(todos - novos)} já compravam antes [q1].`,
    ];
  }),
  told('pt-top', 'Quais as 3 lojas com mais vendas?', (dice) => {
    const rows = ranked(dice, 'Recife|Campinas|Curitiba', [50_000, 700_000]);
    return [
      [rowsOf('q1', 'loja vendas', ...rows)],
      `| Loja | Vendas |
      |---|---|
      | {m:Recife~Curitiba} | R$ ${pt.n(at(rows, 0)[1])} |
      | Campinas | R$ ${pt.n(at(rows, 1)[1])} |
      | Curitiba | R$ ${pt.n(at(rows, 2)[1])} |

      Recife vendeu R$ ${pt.n(at(rows, 0)[1] - at(rows, 1)[1])} a mais que Campinas [q1].`,
    ];
  }),
  told('it-ordini', 'Quanti ordini sono stati annullati?', (dice) => {
    const [tutti, annullati] = [dice.between(7000, 31_000), dice.between(210, 1900)];
    return [
      [rowsOf('q1', 'ordini annullati', [tutti, annullati])],
      `Su ${it.n(tutti)} ordini ne sono stati annullati ${it.n(annullati)}, pari al
      ${it.p(annullati / tutti, 1, '%')}. Il ${it.p(1 - annullati / tutti, 1, '%')} è quindi andato a buon
      fine [q1].`,
    ];
  }),
  told('it-fatturato', 'Com’è andato il fatturato?', (dice) => {
    const rows = walk(dice, '2022|2023|2024', 3_100_000);
    const [a, , c] = rows.map((row) => row[1]) as [number, number, number];
    return [
      [rowsOf('q1', 'anno fatturato', ...rows.map(([year, value]) => [Number(year), value]))],
      `Il fatturato è ${way(a, c, ['cresciuto', 'diminuito'])} da ${it.s(a, [1e6, ' milioni'])} di euro nel
      2022 a ${it.s(c, [1e6, ' milioni'])} nel 2024, una variazione del
      ${it.p(Math.abs(growth(a, c)), 0, '%')} in 2 anni. Nei tre anni insieme sono
      ${it.n(sum(rows))} € [q1].`,
    ];
  }),
];
