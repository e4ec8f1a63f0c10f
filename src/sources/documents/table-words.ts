import { transliterate } from '../../lib/patterns/transliterate.ts';

/**
 * Titles of columns in tables of terms, metrics, rules and columns, by what the column holds, as
 * English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese and
 * Japanese have them. In Latin letters without accents, as `transliterate` writes them.
 */
const columnTitles = {
  name: titles(
    `term, terms, name, names, concept, concepts, kpi, kpis, metric, metrics, measure, measures,
    word, words, acronym, acronyms, abbreviation, abbreviations, business term, business terms,
    business name, business concept, business metric`,
    'begriff, begriffe, fachbegriff, bezeichnung, kennzahl, kennzahlen, messgrosse, abkurzung, kurzel',
    'terme, nom, notion, indicateur, indicateurs, mesure, metrique, sigle, libelle',
    'termino, nombre, concepto, indicador, metrica, medida, sigla',
    'termine, nome, concetto, indicatore, misura, termo, conceito',
    'begrip, naam, kengetal, maatstaf, afkorting, metriek',
    'pojecie, termin, nazwa, wskaznik, miara, skrot',
    'ponyatie, nazvanie, naimenovanie, pokazatel, metrika, sokrashchenie',
    'shuyu, mingcheng, zhibiao, yongyu',
  ),
  rule: titles(
    'rule, rules, policy, policies, business rule, business rules, business policy',
    'regel, regeln, geschaftsregel, regle, regles, regle de gestion, regle metier',
    'regla, reglas, regla de negocio, regola, regole, regra, regras, regra de negocio',
    'regels, bedrijfsregel, regula, zasada, pravilo, guize, ruru',
  ),
  column: titles(
    `column, columns, field, fields, attribute, attributes, column name, field name,
    attribute name`,
    'spalte, spalten, feld, felder, spaltenname, feldname, attribut',
    'colonne, champ, champs, columna, campo, campos, colonna, coluna',
    'kolom, veld, kolumna, pole, kolonka, stolbets, ziduan, ziduanming, lie, lieming, karamu',
  ),
  meaning: titles(
    `definition, definitions, meaning, meanings, description, descriptions, explanation,
    explanations, what it means, means, stands for, statement, what it says`,
    'definitionen, bedeutung, beschreibung, erklarung, erlauterung, steht fur, aussage',
    'signification, explication, enonce, definicion, significado, descripcion, explicacion',
    'definizione, significato, descrizione, spiegazione, definicao, descricao, explicacao',
    'definitie, betekenis, omschrijving, beschrijving, uitleg',
    'definicja, znaczenie, opis, opredelenie, opisanie, znachenie, poyasnenie',
    'dingyi, hanyi, miaoshu, shuoming, yiwei',
  ),
  synonyms: titles(
    'synonym, synonyms, alias, aliases, also, also known as, also called, aka, other names',
    'synonyme, auch, auch genannt, aussi appele, autres noms, sinonimo, sinonimos, tambien',
    'sinonimi, anche, tambem, synoniemen, synoniem, ook wel, synonimy, sinonimy, takzhe',
    'tongyici, tongyiyu, bieming',
  ),
  formula: titles(
    `formula, formulas, calculation, calculations, expression, expressions, sql, computed as,
    calculated as, how it is computed, how it is calculated`,
    'formel, formeln, berechnung, rechenweg, formule, calcul, mode de calcul, calculo',
    'calcolo, berekening, wzor, obliczenie, sposob obliczania, raschet',
    'gongshi, jisuangongshi, jisuanfangshi, jisuanfangfa, jisuanshi',
  ),
  dataset: titles(
    'dataset, datasets, table, tables, model, models, source, sources, based on',
    'tabelle, tabellen, quelle, datenquelle, tabla, fuente, origen, tabella, fonte, origine',
    'tabela, origem, tabel, bron, zrodlo, tablitsa, istochnik, biao, shujubiao, teburu',
  ),
  filter: titles(
    'filter, filters, where, condition, conditions, only, bedingung, nur, filtre, seulement',
    'filtro, condicion, condizione, condicao, voorwaarde, filtr, warunek, uslovie, tiaojian',
  ),
  unit: titles(
    'unit, units, currency, einheit, wahrung, unite, devise, unidad, moneda, unita, valuta',
    'unidade, moeda, eenheid, jednostka, waluta, edinitsa, edinitsa izmereniya, valyuta, danwei',
  ),
  status: titles(
    'status, state, lifecycle, approval, stand, zustand, freigabe, statut, etat, estado, stato',
    'situacao, zhuangtai, sutetasu, sostoyanie',
  ),
} as const;

export type ColumnRole = keyof typeof columnTitles;
const columnRoles = Object.keys(columnTitles) as ColumnRole[];

function titles(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(',').map((title) => plainWords(title))));
}

/** In Latin letters, with one space between words. */
function plainWords(text: string): string {
  return transliterate(text)
    .replaceAll(/[^a-z]+/g, ' ')
    .trim();
}

/** The first column of each role. */
export function columnPositions(header: readonly string[]): ReadonlyMap<ColumnRole, number> {
  const positions = new Map<ColumnRole, number>();
  for (const [index, title] of header.entries()) {
    const words = plainWords(title);
    const role = columnRoles.find(
      (candidate) => columnTitles[candidate].has(words) && !positions.has(candidate),
    );
    if (role) positions.set(role, index);
  }
  return positions;
}

/** What a column of states says of a row that is out of use, at its start. */
const outOfUse = new RegExp(
  `^(?:${[
    'deprecated|obsolete|archived|retired|superseded|outdated|do not use',
    'veraltet|archiviert|abgelost|nicht(?: mehr)? verwenden|ungultig|depreciee?|archivee?|perimee?',
    'ne plus utiliser|obsolet[oa]|en desuso|archivad[oa]|no usar|deprecat[oa]|archiviat[oa]',
    'descontinuad[oa]|arquivad[oa]|nao usar|verouderd|vervallen|gearchiveerd|niet gebruiken',
    'przestarzal[yae]|nieaktualn[yae]|wycofan[yae]|ustarel[oa]?|arkhiv|ne ispolzovat',
    'yifeiqi|feiqi|yitingyong|feizhi',
  ].join('|')})(?![a-z])`,
);
/** Of a row that is not settled. */
const unsettled = new RegExp(
  `^(?:${[
    'draft|proposed|proposal|in review|under review|in progress|not started|wip',
    'entwurf|vorschlag|vorgeschlagen|in (?:prufung|arbeit|abstimmung|bearbeitung)|offen',
    'brouillon|ebauche|proposee?|proposition|en (?:cours|revision|validation)|a valider',
    'borrador|propuest[oa]|en curso|pendiente|bozza|propost[oa]|in (?:corso|revisione)',
    'rascunho|em (?:revisao|andamento)|pendente|concept|voorstel|in (?:behandeling|bewerking)',
    'szkic|projekt|propozycja|w trakcie|chernovik|predlozhenie|v rabote|na soglasovanii',
    'caogao|caoan|daishen(?:he|pi)|shenhezhong|jinxingzhong',
  ].join('|')})(?![a-z])`,
);

/** What a state says of its row; undefined: it holds. */
export function readRowStatus(status: string): 'out of use' | 'unsettled' | undefined {
  const words = plainWords(status);
  if (outOfUse.test(words)) return 'out of use';
  return unsettled.test(words) ? 'unsettled' : undefined;
}
