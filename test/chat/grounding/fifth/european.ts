import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech } from '../third/kit.ts';

const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const it = speech('it-IT', '');
const pt = speech('pt-BR', '');
const pl = speech('pl-PL', '');
const ru = speech('ru-RU', ' ');
const tr = speech('tr-TR', '');
const cs = speech('cs-CZ', ' ');

export const european: readonly Telling[] = [
  told('5-fr-autres', 'Comment se répartissent les dépenses ?', (dice) => {
    const rows = ranked(dice, 'Loyers|Salaires|Énergie|Transport', [9000, 90_000]);
    const rest = sum(rows) - at(rows, 0)[1];
    return [
      [rowsOf('q1', 'poste montant', ...rows)],
      `Les loyers représentent ${fr.n(at(rows, 0)[1])} €, soit ${fr.p(at(rows, 0)[1] / sum(rows))} du total de
      ${fr.n(sum(rows))} €. Les trois autres postes totalisent ${fr.n(rest)} € [q1].`,
    ];
  }),
  told('5-fr-double', 'La filière bio progresse-t-elle ?', (dice) => {
    const a = dice.between(2000, 9000);
    const b = a * 2 + dice.between(5, 50);
    return [
      [rowsOf('q1', 'annee tonnes', [2022, a], [2024, b])],
      `Oui, le volume a plus que doublé : ${fr.n(a)} tonnes en 2022, ${fr.n(b)} tonnes en 2024, soit
      ${fr.sp(growth(a, b), 0)} en deux ans [q1].`,
    ];
  }),
  told('5-fr-tableau', 'Quelle est la marge par gamme ?', (dice) => {
    const rows = ['Jardin', 'Cuisine'].map((name) => {
      const sales = dice.between(100_000, 900_000);
      return [name, sales, part(sales, 0.2 + dice.next() / 4)] as const;
    });
    const lines = rows.map(
      ([name, sales, margin]) =>
        `| ${name} | ${fr.n(sales)} | ${fr.n(margin)} | ${fr.p(margin / sales)} |`,
    );
    return [
      [rowsOf('q1', 'gamme ventes marge', ...rows)],
      `| Gamme | Ventes (€) | Marge (€) | Taux |
      |---|--:|--:|--:|
      ${lines.join('\n')}
      | Total | ${fr.n(column(rows, 1))} | ${fr.n(column(rows, 2))} | ${fr.p(column(rows, 2) / column(rows, 1))} |

      [q1]`,
    ];
  }),
  told('5-fr-date', 'Quand a eu lieu la dernière livraison ?', (dice) => {
    const palettes = dice.between(12, 60);
    const kilos = dice.between(3000, 9000);
    return [
      [rowsOf('q1', 'date_livraison palettes kilos', ['2025-07-08', palettes, kilos])],
      `La dernière livraison date du {p:8 juillet 2025~18 juillet 2025} : ${fr.n(palettes)} palettes pour
      ${fr.n(kilos)} kg, soit ${fr.n(kilos / 1000, 1)} t ou ${fr.n(kilos / palettes)} kg par palette [q1].`,
    ];
  }),
  told('5-fr-points', 'Le taux de remplissage a-t-il changé ?', (dice) => {
    const rows = ['2023', '2024'].map((year) => [year, dice.between(500, 950) / 10] as const);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', 'annee taux_remplissage', ...rows)],
      `Le taux est passé de ${fr.n(a, 1)} % en 2023 à ${fr.n(b, 1)} % en 2024, soit une
      ${way(a, b, ['hausse', 'baisse'])} de ${fr.n(Math.abs(b - a), 1)} points [q1].`,
    ];
  }),
  told('5-fr-moyenne', 'Quel est le panier moyen ?', (dice) => {
    const [orders, total] = [dice.between(900, 4000), dice.between(60_000, 300_000)];
    return [
      [rowsOf('q1', 'commandes chiffre_affaires', [orders, total])],
      `Le panier moyen s'élève à ${fr.n(total / orders, 2)} € (${fr.n(total)} € pour ${fr.n(orders)} commandes)
      [q1].`,
    ];
  }),
  told('5-es-resto', '¿Qué países compran más?', (dice) => {
    const rows = ranked(dice, 'Chile|Perú|México|Ecuador', [20_000, 200_000]);
    const two = at(rows, 0)[1] + at(rows, 1)[1];
    return [
      [rowsOf('q1', 'pais compras', ...rows)],
      `{m:Chile~Ecuador} (${es.n(at(rows, 0)[1])} €) y Perú (${es.n(at(rows, 1)[1])} €) suman ${es.n(two)} €, el
      ${es.p(two / sum(rows))} del total. Los otros dos países compran ${es.n(sum(rows) - two)} € [q1].`,
    ];
  }),
  told('5-es-variacion', '¿Cómo varió el número de socios entre enero y marzo de 2025?', (dice) => {
    const rows = walk(dice, '2025-01|2025-02|2025-03', 4000);
    const [a, b] = [at(rows, 0)[1], at(rows, 2)[1]];
    return [
      [rowsOf('q1', 'mes socios', ...rows)],
      `En enero había ${es.n(a)} socios, en febrero ${es.n(at(rows, 1)[1])} y en marzo ${es.n(b)}. Entre enero y
      marzo ${way(a, b, ['aumentó', 'disminuyó'])} un ${es.p(Math.abs(growth(a, b)))}, es decir,
      ${es.n(Math.abs(b - a))} socios [q1].`,
    ];
  }),
  told('5-es-tercio', '¿Cuántas reservas se cancelan?', (dice) => {
    const cancelled = dice.between(1000, 1900);
    const all = cancelled * 3 - dice.between(1, 20);
    return [
      [rowsOf('q1', 'reservas canceladas', [all, cancelled])],
      `Aproximadamente un tercio: ${es.n(cancelled)} de ${es.n(all)} reservas (${es.p(cancelled / all)}). Quedan
      ${es.n(all - cancelled)} reservas en firme [q1].`,
    ];
  }),
  told('5-es-lista', '¿Cuáles son los cinco artículos con más devoluciones?', (dice) => {
    const rows = ranked(dice, 'Botas|Abrigo|Camisa|Falda|Gorra', [60, 900]);
    const lines = rows.map(([name, value], index) => `${index + 1}. ${name}: ${es.n(value)}`);
    return [
      [rowsOf('q1', 'articulo devoluciones', ...rows)],
      `${lines.join('\n')}

      Los cinco suman ${es.n(sum(rows))} devoluciones; las botas tienen ${es.n(at(rows, 0)[1] / at(rows, 4)[1], 1)}
      veces las devoluciones de las gorras [q1].`,
    ];
  }),
  told('5-it-quota', 'Qual è la quota di ogni canale?', (dice) => {
    const rows = ranked(dice, 'Negozi|Sito|Agenti', [100_000, 900_000]);
    return [
      [rowsOf('q1', 'canale fatturato', ...rows)],
      `Negozi ${it.p(at(rows, 0)[1] / sum(rows))} (${it.n(at(rows, 0)[1])} €), Sito ${it.p(at(rows, 1)[1] / sum(rows))}
      (${it.n(at(rows, 1)[1])} €), Agenti ${it.p(at(rows, 2)[1] / sum(rows))} (${it.n(at(rows, 2)[1])} €). Il totale è di
      ${it.s(sum(rows), [1e6, ' milioni'], 2)} di euro [q1].`,
    ];
  }),
  told('5-it-calo', 'Gli abbonamenti sono calati?', (dice) => {
    const [a, b] = [dice.between(6000, 9000), dice.between(3000, 5900)];
    return [
      [rowsOf('q1', 'anno abbonamenti', [2023, a], [2024, b])],
      `Sì: da ${it.n(a)} nel 2023 a ${it.n(b)} nel 2024. È un {d:calo~aumento} di ${it.n(a - b)} abbonamenti, pari al
      ${it.p((a - b) / a)} [q1].`,
    ];
  }),
  told('5-it-per', 'Quanto costa un corso per partecipante?', (dice) => {
    const rows = ['Excel', 'Inglese'].map(
      (name) => [name, dice.between(11, 60), dice.between(2000, 9000)] as const,
    );
    const per = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    return [
      [rowsOf('q1', 'corso partecipanti costo', ...rows)],
      `- Excel: ${it.n(at(rows, 0)[2])} € per ${it.n(at(rows, 0)[1])} partecipanti, cioè ${it.n(per(0), 2)} € a testa
      - Inglese: ${it.n(at(rows, 1)[2])} € per ${it.n(at(rows, 1)[1])} partecipanti, cioè ${it.n(per(1), 2)} € a testa

      [q1]`,
    ];
  }),
  told('5-pt-total', 'Quantos pedidos cada canal recebeu?', (dice) => {
    const rows = ranked(dice, 'Aplicativo|Site|Loja', [9000, 90_000]);
    return [
      [rowsOf('q1', 'canal pedidos', ...rows)],
      `O aplicativo lidera com ${pt.n(at(rows, 0)[1])} pedidos, seguido do site (${pt.n(at(rows, 1)[1])}) e da loja
      (${pt.n(at(rows, 2)[1])}). No total são ${pt.n(sum(rows))}; a loja responde por
      ${pt.p(at(rows, 2)[1] / sum(rows))} [q1].`,
    ];
  }),
  told('5-pt-queda', 'A inadimplência caiu no 2º trimestre de 2025?', (dice) => {
    const [a, b] = [dice.between(60, 99) / 10, dice.between(30, 59) / 10];
    return [
      [rowsOf('q1', 'trimestre inadimplencia_pct', ['2025-Q1', a], ['2025-Q2', b])],
      `Sim, {d:caiu~subiu} de ${pt.n(a, 1)}% no 1º trimestre para ${pt.n(b, 1)}% no 2º trimestre de 2025, uma redução
      de ${pt.n(a - b, 1)} ponto percentual [q1].`,
    ];
  }),
  told('5-pl-srednia', 'Jaka jest średnia wartość zamówienia w miastach?', (dice) => {
    const rows = ['Gdańsk', 'Łódź'].map((name) => {
      const orders = dice.between(300, 900);
      return [name, orders, orders * dice.between(60, 300) + dice.between(1, 99)] as const;
    });
    const per = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    return [
      [rowsOf('q1', 'miasto zamowienia sprzedaz', ...rows)],
      `Gdańsk: ${pl.n(per(0), 2)} zł na zamówienie (${pl.n(at(rows, 0)[1])} zamówień), Łódź: ${pl.n(per(1), 2)} zł
      (${pl.n(at(rows, 1)[1])} zamówień). Różnica wynosi ${pl.n(Math.abs(per(0) - per(1)), 2)} zł [q1].`,
    ];
  }),
  told('5-pl-zmiana', 'Ilu mieliśmy użytkowników w 2023 i 2024 roku?', (dice) => {
    const [a, b] = [dice.between(20_000, 90_000), dice.between(20_000, 90_000)];
    return [
      [rowsOf('q1', 'rok uzytkownicy', [2023, a], [2024, b])],
      `W 2023 roku było ${pl.n(a)} użytkowników, a w 2024 roku ${pl.n(b)}, czyli ${way(a, b, ['wzrost', 'spadek'])} o
      ${pl.p(Math.abs(growth(a, b)))} (${pl.n(Math.abs(b - a))}) [q1].`,
    ];
  }),
  told('5-ru-dolya', 'Какова доля каждого склада?', (dice) => {
    const rows = ranked(dice, 'Север|Юг', [10_000, 90_000]);
    return [
      [rowsOf('q1', 'склад отгрузки', ...rows)],
      `Север отгрузил ${ru.n(at(rows, 0)[1])} единиц (${ru.p(at(rows, 0)[1] / sum(rows))}), Юг — ${ru.n(at(rows, 1)[1])}
      (${ru.p(at(rows, 1)[1] / sum(rows))}). Всего ${ru.n(sum(rows))} единиц [q1].`,
    ];
  }),
  told('5-tr-artis', 'Abone sayısı 2024’te arttı mı?', (dice) => {
    const a = dice.between(9000, 40_000);
    const b = a + dice.between(900, 8000);
    return [
      [rowsOf('q1', 'yil abone', [2023, a], [2024, b])],
      `Evet. Abone sayısı 2023'te ${tr.n(a)}, 2024'te ${tr.n(b)} oldu; artış ${tr.n(b - a)} abone, yani
      %${tr.n(growth(a, b) * 100, 1)} [q1].`,
    ];
  }),
  told('5-cs-podil', 'Kolik objednávek je z mobilu?', (dice) => {
    const all = dice.between(10_000, 60_000);
    const mobile = part(all, 0.3 + dice.next() / 3);
    return [
      [rowsOf('q1', 'objednavky z_mobilu', [all, mobile])],
      `Z ${cs.n(all)} objednávek jich ${cs.n(mobile)} přišlo z mobilu, tedy ${cs.p(mobile / all)}. Zbývajících
      ${cs.n(all - mobile)} přišlo odjinud [q1].`,
    ];
  }),
];
