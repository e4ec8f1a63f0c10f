import type { QueryEvidence } from '../../../llm/port/tool-call.ts';

const standards =
  'ISO|ISO/IEC|IEC|DIN|EN|RFC|IFRS|IAS|ASC|SOC|PCI|NIST|ANSI|IEEE|SHA|MD|UTF|HTTP|TLS|Art\\.?|Artikel|article|artículo|articolo|§';
const products =
  'iOS|iPadOS|macOS|Android|Windows|Python|Node(?:\\.js)?|Java|PHP|Postgres(?:QL)?|MySQL|Chrome|Firefox|Safari|Excel|Ubuntu|GA|GPT|Claude|Gemini|HTML|Covid|COVID|Web|G|Gen';

/** `ISO 8601`, `IFRS 15`, `iOS 15`: the digits belong to a name. */
const named = new RegExp(
  `(?<![\\p{L}\\d])(${standards}|${products})[ \u00A0-]?(?:\\d+[-:.])*$`,
  'u',
);

const places =
  'points?|definitions?|options?|questions?|scenarios?|variants?|footnotes?|notes?|items?|rows?|lines?|tables?|figures?|charts?|tabs?|sheets?|steps?|parts?|sections?|methods?|approach(?:es)?|punkte?n?|schritte?n?|optionen|variante|fragen?|zeilen?|abschnitte?|étapes?|lignes?|questions?|puntos?|opción|opciones|pasos?|líneas?|filas?|pontos?|opç(?:ão|ões)|passos?|linhas?|punti|punto|opzion[ei]|righ[ae]|passi|punten|stappen|stap|opties|optie|vragen|kroki|krok|punkty|opcja';

/** `Points 1 and 3`, `step 4 → 5`: where something stands in a list. */
const placed = new RegExp(
  `(?<!\\p{L})(?:${places})[ \u00A0]#?(?:\\d{1,2}\\s?(?:,|and|und|et|y|e|en|och|i|or|oder|ou|o|to|→|->|–|-|&|\\/)\\s?)*$`,
  'iu',
);

/** `3-letter codes`, `a 90-day window`: a number in a word. */
const compound =
  /^[-‑](?:letter|digit|character|word|column|row|step|star|point|way|sided|tier|level|stellig\p{L}*|teilig\p{L}*)/iu;

/** `4 of the 27 columns`, `two tables`: what the answer looked at, not what it found. */
const looked =
  /^\s(?:(?:of|von|de|di|su|sur|out of)\s(?:the |den |les |las |los |le |i |as |os )?\d{1,4}\s)?(?:\p{L}+\s)?(?:columns?|tables?|fields?|schemas?|spalten|tabellen|felder\p{L}*|colonnes?|columnas?|tablas?|campos?|colonne|tabelle|colunas?|tabelas?|kolommen|velden|kolumner|kolumny?|tabele?)(?!\p{L})/iu;

const looks =
  /check|look|search|inspect|scan|profil|examin|\bus(?:ed|ing)\b|join|quer|schema|warehouse|database|prüf|durchsuch|angesehen|verwend|vérifi|consult|utilis|revis|analizz|controll|verific|bekeken|gebruikt/i;

/** `to the nearest $100` */
const rounded =
  /(?<!\p{L})(?:nearest|rounded to|gerundet auf|arrondi\p{L}* (?:à|au)|redondead\p{L}* a|arredondad\p{L}* para|arrotondat\p{L}* a(?:l|i)?|afgerond op|avrundat till)\s(?:the |full |whole |volle |ganze )?(?:nearest )?[€$£¥]?$/iu;

/** True if the digits name a thing, or the place of one, of which no row speaks. */
export function namesThing(
  { before, behind, isShort }: ThingAround,
  evidence: readonly QueryEvidence[],
): boolean {
  const isOfRows = (word: string): boolean =>
    evidence.some(({ rows, columns }) =>
      [...columns.map(({ name }) => name), ...rows.flat().slice(0, 2000)].some((cell) =>
        String(cell).toLowerCase().includes(word.toLowerCase()),
      ),
    );
  const [, thing] = named.exec(before) ?? [];
  if (thing !== undefined) return !isOfRows(thing);
  if (rounded.test(before)) return true;
  if (!isShort) return false;
  if (placed.test(before) || compound.test(behind)) return true;
  const [, word] = /(\p{L}{4})\p{L}*$/u.exec(looked.exec(behind)?.[0] ?? '') ?? [];
  return word !== undefined && looks.test(before) && !isOfRows(word);
}

interface ThingAround {
  readonly before: string;
  readonly behind: string;
  /** A whole number of at most three digits without a unit. */
  readonly isShort: boolean;
}
