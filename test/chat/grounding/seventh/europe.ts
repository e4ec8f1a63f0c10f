import { rowsOf } from '../blind/answer.ts';
import { growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { part, speech } from '../third/kit.ts';
import { amounts, table, thrown } from './kit.ts';

const de = speech('de-DE', ' ');
const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const it = speech('it-IT', '');
const nl = speech('nl-NL', '');
const pt = speech('pt-BR', '');
const pl = speech('pl-PL', '');
const sv = speech('sv-SE', ' ');
const Mio = [1e6, ' Mio.'] as const;
const M = [1e6, ' M'] as const;

/** Plain answers in the languages of Europe. */
export const europe: readonly Telling[] = [
  told('7-e-de-top', 'Welche Produkte verkaufen sich am besten?', (dice) => {
    const rows = ranked(dice, 'Regenjacke|Wanderschuh|Rucksack|Zelt', [400, 9000]);
    const [a, b, c, d] = amounts(rows);
    return [
      [rowsOf('q1', 'produkt stueck', ...rows)],
      `Am besten verkauft sich die Regenjacke mit ${de.n(a)} Stück, vor dem Wanderschuh (${de.n(b)}) und dem Rucksack (${de.n(c)}).
      Schlusslicht ist das Zelt mit ${de.n(d)} Stück. Die Regenjacke verkauft sich damit ${de.n(a / d, 1)}-mal so oft wie das
      Zelt und macht ${de.p(a / sum(rows))} aller ${de.n(sum(rows))} verkauften Stücke aus [q1].`,
    ];
  }),
  told('7-e-de-jahre', 'Wie hat sich die Zahl der Mitglieder seit 2021 entwickelt?', (dice) => {
    const rows = walk(dice, '2021|2022|2023|2024', 9000).map(
      ([year, many]) => [Number(year), many] as const,
    );
    const [a, b, c, d] = amounts(rows);
    return [
      [rowsOf('q1', 'jahr mitglieder', ...rows)],
      `| Jahr | Mitglieder | Veränderung zum Vorjahr |
      |---|---:|---:|
      | 2021 | ${de.n(a)} | – |
      | 2022 | ${de.n(b)} | ${de.sp(growth(a, b))} |
      | 2023 | ${de.n(c)} | ${de.sp(growth(b, c))} |
      | 2024 | ${de.n(d)} | ${de.sp(growth(c, d))} |

      Insgesamt ist die Mitgliederzahl seit 2021 um ${de.n(Math.abs(d - a))} (${de.p(Math.abs(growth(a, d)))})
      ${way(a, d, ['gestiegen', 'gesunken'])} [q1].`,
    ];
  }),
  told('7-e-de-mio', 'Wie viel geben wir für Energie aus?', (dice) => {
    const [strom, gas] = thrown(dice, [2_000_000, 9_000_000], [1_000_000, 1_900_000]);
    return [
      [rowsOf('q1', 'energieart kosten', ['Strom', strom], ['Gas', gas])],
      `Die Energiekosten betragen rund ${de.s(strom + gas, Mio)} €: ${de.s(strom, Mio)} € für Strom und ${de.s(gas, Mio)} € für Gas.
      Auf Strom entfallen damit ${de.p(strom / (strom + gas), 0)} der Kosten [q1].`,
    ];
  }),
  told('7-e-fr-top', 'Quels sont nos trois meilleurs vendeurs ?', (dice) => {
    const rows = ranked(dice, 'Camille|Hugo|Léa', [40_000, 300_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'vendeur ventes', ...rows)],
      `1. **Camille** : ${fr.n(a)} €
      2. **Hugo** : ${fr.n(b)} €
      3. **Léa** : ${fr.n(c)} €

      À eux trois, ils totalisent ${fr.n(a + b + c)} €, et Camille en réalise à elle seule ${fr.p(a / (a + b + c))}. L’écart entre
      Camille et Léa est de ${fr.n(a - c)} € [q1].`,
    ];
  }),
  told('7-e-fr-an', 'Comment le nombre d’abonnés a-t-il évolué entre 2023 et 2024 ?', (dice) => {
    const rows = walk(dice, '2023|2024', 40_000).map(
      ([year, many]) => [Number(year), many] as const,
    );
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'annee abonnes', ...rows)],
      `Le nombre d’abonnés est passé de ${fr.n(a)} en 2023 à ${fr.n(b)} en 2024, soit ${fr.n(Math.abs(b - a))} abonnés de
      ${way(a, b, ['plus', 'moins'])} (${fr.sp(growth(a, b))}) [q1].`,
    ];
  }),
  told('7-e-fr-taux', 'Quel est le taux de retour par catégorie ?', (dice) => {
    const rows = table(dice, 'Chaussures|Sacs', [3000, 9000], [200, 900]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'categorie vendus retournes', ...rows)],
      `- Chaussures : ${fr.p(x / a)} (${fr.n(x)} retours pour ${fr.n(a)} articles vendus)
      - Sacs : ${fr.p(y / b)} (${fr.n(y)} retours pour ${fr.n(b)} articles vendus)

      Toutes catégories confondues, le taux de retour est de ${fr.p((x + y) / (a + b))} [q1].`,
    ];
  }),
  told('7-e-es-lista', '¿Qué países generan más ingresos?', (dice) => {
    const rows = ranked(dice, 'México|Chile|Perú', [300_000, 4_000_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'pais ingresos', ...rows)],
      `- **México**: ${es.s(a, M, 2)} € (${es.p(a / sum(rows))})
      - **Chile**: ${es.s(b, M, 2)} € (${es.p(b / sum(rows))})
      - **Perú**: ${es.s(c, M, 2)} € (${es.p(c / sum(rows))})

      Los tres países suman ${es.s(sum(rows), M, 2)} €; México y Chile concentran el ${es.p((a + b) / sum(rows))} [q1].`,
    ];
  }),
  told('7-e-es-media', '¿Cuánto gasta cada cliente de media?', (dice) => {
    const [clients, money] = thrown(dice, [900, 4000], [90_000, 400_000]);
    return [
      [rowsOf('q1', 'clientes gasto_total', [clients, money])],
      `De media, cada cliente gasta ${es.n(money / clients, 2)} €: son ${es.n(money)} € entre ${es.n(clients)} clientes [q1].`,
    ];
  }),
  told('7-e-it-reparti', 'Quanti dipendenti ha ogni reparto?', (dice) => {
    const rows = ranked(dice, 'Produzione|Vendite|Ricerca', [40, 400]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'reparto dipendenti', ...rows)],
      `In totale ci sono ${it.n(sum(rows))} dipendenti: ${it.n(a)} in Produzione (${it.p(a / sum(rows))}), ${it.n(b)} nelle Vendite
      (${it.p(b / sum(rows))}) e ${it.n(c)} nella Ricerca (${it.p(c / sum(rows))}) [q1].`,
    ];
  }),
  told('7-e-it-trimestre', 'Com’è andato il secondo trimestre 2025 rispetto al primo?', (dice) => {
    const rows = walk(dice, '2025-Q1|2025-Q2', 500_000);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'trimestre fatturato', ...rows)],
      `Nel secondo trimestre 2025 il fatturato è stato di ${it.n(b)} €, contro i ${it.n(a)} € del primo: una
      ${way(a, b, ['crescita', 'diminuzione'])} di ${it.n(Math.abs(b - a))} €, pari al ${it.p(Math.abs(growth(a, b)))} [q1].`,
    ];
  }),
  told('7-e-nl-lijst', 'Welke filialen draaien de meeste omzet?', (dice) => {
    const rows = ranked(dice, 'Amsterdam|Rotterdam|Eindhoven', [90_000, 900_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'filiaal omzet', ...rows)],
      `1. Amsterdam: € ${nl.n(a)}
      2. Rotterdam: € ${nl.n(b)}
      3. Eindhoven: € ${nl.n(c)}

      Samen is dat € ${nl.n(sum(rows))}, waarvan ${nl.p(a / sum(rows))} uit Amsterdam. Rotterdam zit € ${nl.n(a - b)} onder Amsterdam
      [q1].`,
    ];
  }),
  told('7-e-pt-vendas', 'Como evoluíram as vendas de abril para maio de 2025?', (dice) => {
    const rows = walk(dice, '2025-04|2025-05', 40_000);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'mes vendas', ...rows)],
      `As vendas passaram de R$ ${pt.n(a)} em abril para R$ ${pt.n(b)} em maio, ${way(a, b, ['um aumento', 'uma queda'])} de
      ${pt.p(Math.abs(growth(a, b)))} (R$ ${pt.n(Math.abs(b - a))}) [q1].`,
    ];
  }),
  told('7-e-pl-sklepy', 'Który sklep sprzedaje najwięcej?', (dice) => {
    const rows = ranked(dice, 'Kraków|Gdynia|Łódź', [40_000, 400_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'sklep sprzedaz', ...rows)],
      `Najwięcej sprzedaje Kraków: ${pl.n(a)} zł, czyli ${pl.p(a / sum(rows))} całości (${pl.n(sum(rows))} zł). Gdynia ma ${pl.n(b)} zł,
      a Łódź ${pl.n(c)} zł. Różnica między Krakowem a Łodzią to ${pl.n(a - c)} zł [q1].`,
    ];
  }),
  told('7-e-sv-andel', 'Hur många kunder är företag?', (dice) => {
    const all = dice.between(3000, 9000);
    const firms = part(all, 0.2 + dice.next() / 5);
    return [
      [rowsOf('q1', 'kunder foretagskunder', [all, firms])],
      `${sv.n(firms)} av ${sv.n(all)} kunder är företag, vilket motsvarar ${sv.p(firms / all)}. Resterande ${sv.n(all - firms)} kunder
      är privatpersoner [q1].`,
    ];
  }),
];
