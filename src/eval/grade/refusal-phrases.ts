/**
 * Phrases in which an agent says that it has no answer: parts of regular expressions, by language.
 * Gaps are bounded, so that a long text takes time in proportion to its length.
 */
const phrases: Readonly<Record<string, readonly string[]>> = {
  English: [
    'can ?not',
    "can['’]?t",
    "could(?: not|n['’]t)",
    'unable',
    "(?:not|\\p{L}{2,7}n['’]t) able",
    'no (?:data|information|such|answer|way|(?:metric|column|field|table|definition|record)s?)',
    "there (?:is|are)(?: no|n['’]t)",
    'none of (?:the|our|these|them)',
    'nothing (?:in|about|on)',
    'not in (?:the|our|this) (?:data|warehouse|database)',
    "(?:not|\\p{L}{2,7}n['’]t) (?:available|recorded|tracked|stored|collected|captured)",
    "(?:not|\\p{L}{2,7}n['’]t) (?:measured|defined|known)",
    "(?:is|are|was|were)(?: not|n['’]t) (?:in the|part of|there|anywhere)",
    "(?:does|do|did)(?: not|n['’]t) (?:have|hold|contain|include|record|track|store|collect)",
    "(?:does|do|did)(?: not|n['’]t) (?:see|find|locate)",
    "(?:does|do|did)(?: not|n['’]t) (?:capture|measure|know|exist|cover|appear)",
    'lacks?',
    '(?:is|are) missing',
    '(?:none|nothing) exists?',
    '(?:insufficient|impossible|unanswerable|unavailable)',
    '(?:out(?:side)? of (?:the )?scope|outside (?:of )?what)',
    '(?:would (?:need|require)|needs?) [^.!?]{0,60} (?:which|that|but)[^.!?]{0,40} (?:not|no|none)',
    "(?:is|are)(?: not|n['’]t) something",
    '(?:has|have|contains?) (?:nothing|no\\b)',
    '(?:would be|is) (?:\\p{L}+ )?(?:a guess|guesswork|speculation)',
  ],
  German: [
    '(?:kann|können|konnte|lässt|lassen)[^.!?]{0,80} (?:nicht|keine?[nrms]?)',
    'keine?[nrm]? (?:\\p{L}+ )?(?:daten|angaben?|information(?:en)?|kennzahl(?:en)?)',
    'keine?[nrm]? (?:\\p{L}+ )?(?:spalten?|tabellen?)',
    'nicht (?:\\p{L}+ ){0,2}(?:vorhanden|erfasst|erhoben|gespeichert|verfügbar)',
    'nicht (?:\\p{L}+ ){0,2}(?:enthalten|definiert|gemessen)',
    'nicht (?:zu )?(?:beantwort\\p{L}+|ermitt\\p{L}+|berechn\\p{L}+|bestimm\\p{L}+|möglich)',
    'nicht (?:\\p{L}+ ){0,2}(?:bekannt|dokumentiert|vorgesehen|aufgezeichnet)',
    'fehl(?:t|en)',
    '(?:tabelle|spalte|daten|angaben|kennzahl|feld)\\p{L}*[^.!?]{0,40} (?:gibt|gab) es nicht',
    'nichts (?:sagen|angeben)',
  ],
  French: [
    "n(?:e |['’])[^.!?]{0,60} (?:pas|aucune?)",
    'aucune? (?:donnée|table|colonne|information|mesure|définition)s?',
    'manquent?',
    'impossible',
  ],
  Spanish: [
    'no (?:hay|existen?|tenemos|dispon\\p{L}+|puedo|podemos|contienen?|est[áa]n?|figuran?)',
    'no (?:he |hemos )?encontr\\p{L}+',
    'no se (?:registra|mide|recoge|guarda)n?',
    'faltan?',
  ],
  Portuguese: [
    'n[ãa]o (?:encontr\\p{L}+|localiz\\p{L}+|consigo|consegui\\p{L}*)',
    'n[ãa]o (?:há|existem?|temos|dispon\\p{L}+|posso|podemos|cont[ée]m|est[áã]o?)',
    'n[ãa]o (?:é possível|é|são|foi) (?:\\p{L}+ ){0,2}(?:medid|registad|registrad|guardad|respond)\\p{L}+',
    'falta[m]?',
  ],
  Italian: [
    "non (?:ci sono|c['’]è|esist\\p{L}+|abbiamo|posso|possiamo|contiene|contengono)",
    'non (?:ho|abbiamo) trovato',
    'non sono (?:disponibili|registrat[ie])',
  ],
  Dutch: [
    '(?:niet|geen) (?:\\p{L}+ ){0,3}(?:gegevens|data|beschikbaar|kolom|tabel|vastgelegd|gemeten)',
    'kan[^.!?]{0,80} niet',
  ],
  Polish: ['nie (?:ma|można|mogę|mamy|zawierają|zawiera)', 'brak'],
  Russian: ['нет', 'не (?:могу|можем|содерж\\p{L}+|хран\\p{L}+|собира\\p{L}+)', 'отсутству\\p{L}+'],
  Swedish: [
    '(?:det )?(?:finns|saknas)(?: det)? (?:inga|inget|ingen|inte)',
    '(?:kan|går) (?:\\p{L}+ ){0,2}inte',
    'saknas',
    'inte (?:\\p{L}+ ){0,2}(?:tillgänglig\\p{L}*|registrera\\p{L}*|mät\\p{L}*)',
  ],
  Danish: ['(?:der )?(?:findes|er) (?:ingen|ikke)', 'kan (?:\\p{L}+ ){0,2}ikke', 'mangler'],
  Norwegian: ['(?:det )?(?:finnes|er) (?:ingen|ikke)', 'ikke (?:tilgjengelig|registrert)'],
  Finnish: ['ei (?:ole|löydy|voi\\p{L}*|sisällä|tallenneta)', 'puuttu\\p{L}+'],
  Czech: [
    '(?:nejsou|není|nemáme|nelze|neexistuj\\p{L}+|neobsahuj\\p{L}+|nemohu|nesleduj\\p{L}+)',
    'chyb(?:í|ějí)',
  ],
  Hungarian: ['(?:nincs|nincsenek|nem (?:tudom|lehet|áll|található|tartalmaz))', 'hiányzik'],
  Romanian: ['nu (?:există|avem|pot|putem|sunt|este|conține|se)', 'lips\\p{L}+'],
  Turkish: [
    '(?:yok(?:tur)?|bulun(?:mu|ma)\\p{L}+|mevcut değil\\p{L}*|yanıtlayam\\p{L}+)',
    '(?:cevaplayam\\p{L}+|tutulmu\\p{L}+|kaydedilm\\p{L}+|içerm\\p{L}+)',
  ],
  Greek: ['δεν (?:υπάρχ\\p{L}+|έχουμε|μπορώ|μπορούμε|είναι|περιέχ\\p{L}+)'],
  Ukrainian: ['немає', 'не (?:можу|можна|містить|зберіга\\p{L}+)', 'відсутн\\p{L}+'],
  Arabic: [
    '(?:لا|لم|لن) (?:توجد|يوجد|يمكن\\p{L}*|تتوفر|يتوفر|أستطيع|نملك|تحتوي|يتم)',
    'ليس\\p{L}*',
    'غير (?:متوفر|متاح|مسجل)\\p{L}*',
  ],
  Hebrew: ['אין', 'לא (?:ניתן|קיים|קיימים|נמצא|נמצאו|יכול)'],
  Vietnamese: ['không (?:có|thể|tồn tại|được|lưu)'],
  Indonesian: [
    'tidak (?:ada|tersedia|dapat|bisa|memiliki|tercatat|mencatat)',
    'belum (?:ada|tersedia)',
  ],
};

const words = new RegExp(
  `(?<!\\p{L})(?:${Object.values(phrases).flat().join('|')})(?!\\p{L})`,
  'iu',
);

/** Chinese, Japanese, Korean and Thai put no space between words. */
const unspaced =
  /没有|沒有|无法|無法|不存在|未记录|未記錄|未收集|缺少|ありません|できません|存在しません|ないため|없습니다|없다|없어|ไม่มี|ไม่สามารถ|नहीं/u;

/** Words of emphasis that only look like a refusal. */
const emphasis = new RegExp(
  "(?:can ?not|can['’]?t|could(?: not|n['’]t)|do(?: not|n['’]t)) (?:be )?" +
    '(?:stress|emphasi[sz]e|overstate|overemphasi[sz]e|say enough|recommend|thank|help but|wait)',
  'giu',
);

/** Whether a text says that its question cannot be answered. */
export function saysNoAnswer(text: string): boolean {
  const plain = text.replaceAll(emphasis, ' ');
  return words.test(plain) || unspaced.test(plain);
}

/** What an agent counts when it says where it looked: `12 tables`, `3 Spalten`. */
export const countsPlaces = new RegExp(
  '^\\s+(?:\\p{L}+\\s+){0,2}(?:tables?|columns?|fields?|datasets?|metrics?|pages?|schemas?' +
    '|queries|sources?|definitions?|meanings?|interpretations?|tabellen?|spalten?|kennzahl(?:en)?|seiten?|definitionen|colonnes?|tablas?|columnas?' +
    '|tabelas?|colunas?|tabelle|colonne|kolommen)(?!\\p{L})',
  'iu',
);
