/** What a word behind a number multiplies it by. */
export const scaleWords: ReadonlyMap<string, number> = new Map([
  ...['k', 'thousand', 'tsd', 'tausend', 'mille', 'mil', 'mila', 'duizend', 'tusen', 'tys'].map(
    (word) => [word, 1e3] as const,
  ),
  ...[
    'm',
    'mn',
    'mm',
    'mio',
    'mln',
    'million',
    'millions',
    'millionen',
    'millones',
    'milioni',
    'milione',
    'milhões',
    'milhão',
    'miljoen',
    'miljoner',
    'milionów',
    'milionu',
  ].map((word) => [word, 1e6] as const),
  ...[
    'b',
    'bn',
    'billion',
    'billions',
    'mrd',
    'milliard',
    'milliards',
    'milliarden',
    'miliardi',
    'miliardo',
    'bilhões',
    'bilhão',
    'miljard',
    'miljarder',
    'miliardów',
  ].map((word) => [word, 1e9] as const),
  ...['千', '천', 'тыс', 'bin', 'ribu'].map((word) => [word, 1e3] as const),
  ...['万', '萬', '만'].map((word) => [word, 1e4] as const),
  ...['lakh', 'lakhs', 'lac', 'लाख'].map((word) => [word, 1e5] as const),
  ...['млн', 'milyon', 'juta'].map((word) => [word, 1e6] as const),
  ...['crore', 'crores', 'cr', 'करोड़'].map((word) => [word, 1e7] as const),
  ...['億', '亿', '억'].map((word) => [word, 1e8] as const),
  ...['млрд', 'milyar', 'miliar'].map((word) => [word, 1e9] as const),
  ...['兆', '조', 'trillion'].map((word) => [word, 1e12] as const),
]);

/** The words of scripts that put no spaces between words stand in `joined`. */
const word = (words: readonly string[], joined = '(?!)'): RegExp =>
  new RegExp(`(?<!\\p{L})(?:${words.join('|')})(?!\\p{L})|${joined}`, 'iu');

/** Words that say that a number went down or is missing. */
export const downWords = word(
  [
    'kles\\p{L}*|pokles\\p{L}*|sníž\\p{L}*|сниз\\p{L}*|упал\\p{L}*|сниж\\p{L}*|уменьш\\p{L}*|fald\\p{L}*|düş\\p{L}*|azal\\p{L}*',
    'down|darunter|drunter|fell|falls?|fallen|drop(?:ped|s)?|declin\\p{L}*|decreas\\p{L}*|less|lower|fewer',
    'los(?:e|es|ing)|verlier\\p{L}*|verlor\\p{L}*|miss(?:es|ed)?|falls? short|verfehl\\p{L}*|unterschr\\p{L}*|minus|loss|lost|shrank|behind|below|cut|gesunken|sank(?:en)?|sink(?:t|en)|gefallen',
    'fiel(?:en)?|schrumpf\\p{L}*|zurück|rückgang|weniger|niedriger|verlust|baiss\\p{L}*',
    'diminu\\p{L}*|recul\\p{L}*|moins|perte|baj\\p{L}*|cay\\p{L}*|disminu\\p{L}*|menos',
    'pérdida|queda|caiu|caíram|diminuiu|menor|calo|calat\\p{L}*|scen\\p{L}*|sces\\p{L}*',
    'meno|perdita|daling|gedaald|daal\\p{L}*|minder|verlies|minskade|minskat|sjönk|föll',
    'spad\\p{L}*|mniej',
  ],
  '減少|减少|下降|低下|감소|減り|減っ|下がり|下回|落ち込|줄어|줄었|떨어|下滑|降低',
);

const approximations = [
  'about|around|roughly|approximately|nearly|almost|some|over|more than|under|less than',
  'just|etwa|rund|ungefähr|circa|ca\\.?|knapp|gut|fast|über|environ|près de|presque|plus de',
  'unos|casi|alrededor de|más de',
];

/** Words for what may be a rough number. */
export const aboutWords = new RegExp(`(?:\\b(?:${approximations.join('|')})\\s*|[~≈>]\\s?)$`, 'iu');

const comparisons = [
  'more|less|than|differ\\w*|ahead|behind|versus|vs|compar\\w*|increas\\w*|decreas\\w*',
  'trail\\w*|exceed\\w*|surpass\\w*|gr[eo]w\\w*|rose|rise|fell|down|up|gap|times|share|of|per|average|mehr|weniger|als',
  'je|unterschied|differenz|gegenüber|gestiegen|gesunken|wuchs|anteil|mal|vor|pro|plus|moins',
  'écart|hausse|baisse|fois|part|más|menos|diferencia|veces|più|meno|differenza|volte|mais',
  'diferença|vezes|meer|minder|verschil|keer|mer|mindre|gånger|więcej|mniej|razy',
];

/** Words of a sentence that compares two numbers, or a part with the whole. */
export const comparisonWords = new RegExp(
  `%|\\b(?:${comparisons.join('|')})(?!\\p{L})|倍|増|減|差`,
  'iu',
);

/** Words that say that a number went up. */
export const upWords = word(
  [
    'vzrost\\p{L}*|nárůst\\p{L}*|zvýš\\p{L}*|вырос\\p{L}*|рост\\p{L}*|прирост\\p{L}*|увелич\\p{L}*|stigning\\p{L}*|vokse\\p{L}*|arttı|artış\\p{L}*|yüksel\\p{L}*',
    'up|uplift|lift|darüber|drüber|above|rose|rises?|risen|grew|grows?|grown|growth|increas\\p{L}*|gain(?:ed|s)?',
    'climb\\p{L}*|jump\\p{L}*|higher|gestiegen|stieg(?:en)?|steig(?:t|en)|wuchs(?:en)?|wächst',
    'wachsen|gewachsen|wachstum|zunahme|anstieg|hausse|augment\\p{L}*|progress\\p{L}*',
    'croissance|crescim\\p{L}*|subi\\p{L}*|aument\\p{L}*|crec\\p{L}*|alza|incremento|crescit\\p{L}*',
    'cresciut\\p{L}*|cresce\\p{L}*|salit\\p{L}*|gestegen|steeg|stegen|stijg\\p{L}*',
    'groei\\p{L}*|steg|ökade|ökat|wzro\\p{L}*',
  ],
  '増加|增长|增加|上昇|上升|伸び|증가|増え|伸ば|上がり|上回|늘어|늘었|올랐|上涨|提高',
);

/** Words of a statement about several numbers as one. */
export const totalWords = word(
  [
    'celkem|dohromady|всего|итого|toplam|i alt',
    'makes|adds? up|comes? to|amounts? to|together|company-wide|across|in all|en tout|em tudo|in tutto|full|whole|total\\p{L}*|altogether|all|sum|combined|overall|plus|both|and',
    'in sum|zusammen|gesamt\\p{L}*|insgesamt|alle|summe|beide|und|ensemble|tous|toutes|somme',
    'et|juntos|juntas|todos|todas|suma|y|insieme|totale|tutti|tutte|somma|e|samen|alle|totaal',
    'en|tillsammans|totalt|alla|och|razem|łącznie|suma|i',
  ],
  '合計|総計|全体|合わせ|合计|总计|합계|총',
);

/** Words for what is left of a whole. */
export const restWords = word([
  'zbýv\\p{L}*|ostatní\\p{L}*|остальн\\p{L}*|diğer\\p{L}*|resterende',
  'other|others|rest|remaining|remainder|else|übrige\\p{L}*|restliche\\p{L}*|andere\\p{L}*',
  'autres?|reste|restant\\p{L}*|otros?|otras?|resto|demás|altri|altre|outros?|outras?',
  'overige\\p{L}*|andere|övriga|pozostał\\p{L}*',
]);

/** Words for the first entries of a list. */
export const firstWords = word([
  'top|first|biggest|largest|best|leading|lead|erste\\p{L}*|größte\\p{L}*|premi\\p{L}*',
  'plus gran\\p{L}*|primer\\p{L}*|mayor\\p{L}*|prim[aeio]\\p{L}*|maggior\\p{L}*|eerste',
  'grootste|första|största',
]);

export const averageWords = word(
  [
    'průměr\\p{L}*|средн\\p{L}*|gennemsnit\\p{L}*|ortalama\\p{L}*',
    'average\\p{L}*|avg|mean|per|durchschnitt\\p{L}*|schnitt|mittel\\p{L}*|pro|moyen\\p{L}*',
    'par|promedio|media|por|medio|média|gemiddeld\\p{L}*|genomsnitt\\p{L}*|snitt',
    'średni\\p{L}*',
  ],
  '平均|あたり|평균',
);

/** As below; without `and`, which may go on with the second name. */
export const versusWords = word([
  'against|versus|vs|compared (?:with|to)|gegen|gegenüber|contre|frente a|contra|contro',
  'tegen|mot|wobec',
]);

/** What stands between two numbers that belong to two names in this order. */
export const againstWords = word([
  'against|versus|vs|compared (?:with|to)|and|gegen|gegenüber|zu|und|contre|et|frente a',
  'contra|y|contro|tegen|en|mot|och|wobec|i|e',
]);

/** What rows never say: plans, and what will be. */
export const planWords = word([
  'plan\\p{L}*|target\\p{L}*|goal\\p{L}*|forecast\\p{L}*|expect\\p{L}*|predict\\p{L}*',
  'project(?:ed|ion\\p{L}*)|next (?:week|month|quarter|year)|ziel\\p{L}*|prognos\\p{L}*',
  'erwart\\p{L}*|nächste\\p{L}*|objectif\\p{L}*|prévi\\p{L}*|prochain\\p{L}*',
  'objetivo\\p{L}*|previst\\p{L}*|próxim\\p{L}*|obiettiv\\p{L}*|prossim\\p{L}*|doel\\p{L}*',
  'volgende|mål\\p{L}*|nästa',
]);

/** Words for a change whose direction a sign tells. */
export const changeWords = word(
  [
    'change\\p{L}*|too (?:high|low)|zu (?:hoch|niedrig)|deviation|abweich\\p{L}*|scost\\p{L}*|more|mehr|más|mais|più|meer|fler|double\\p{L}*|verdoppel\\p{L}*|difference',
    'delta|cagr|tcam|tcac|yoy|mom|qoq|wow|veränder\\p{L}*|änderung|differenz|variation|évolution|cambio|variación',
    'variazione|variação|verandering|verschil|förändring|zmian\\p{L}*|compared|versus|vs',
    'against|gegenüber|than|als|que|che|dan|än|niż',
  ],
  '変化|变化|増減|변화',
);

/** Words of a ratio that is no percentage. */
export const timesWords = word([
  'times|x|roas|roi|multiple|turns|coverage|fold|twice|double|triple|half|mal|fach\\p{L}*|doppelt\\p{L}*|fois|double|veces',
  'doble|volte|doppio|vezes|dobro|keer|maal|gånger|razy|ratio|verhältnis|per',
]);

/** Words for the period before the one that is named. */
export const previousWords = word(
  [
    '(?:last|previous|prior|preceding) (?:year|quarter|month|week|period)\\p{L}*',
    '(?:year|month|quarter|week)s? (?:before|earlier|ago)|vorjahr\\p{L}*|vormonat\\p{L}*',
    'vorquartal\\p{L}*|vorwoche|vorherige\\p{L}*|précédente?|antérieure?|avant|anterior',
    'pasado|precedente|scorso|scorsa|passado|vorige?|voorgaande?|poprzedni\\p{L}*|föregående',
    'förra',
  ],
  '前年|前月|前期|先月|昨年|去年|上月|上年|上季|上周|전년|전월',
);

/** Words for the last entries of a list. */
export const lastWords = word([
  'last|latest|bottom|final|smallest|lowest|letzte\\p{L}*|derni\\p{L}*|últim\\p{L}*|ultim\\p{L}*',
  'laatste|sista|ostatni\\p{L}*',
]);

/** Words for what lies between a number and what it should be, or what it is measured by. */
export const gapWords = word(
  [
    'above|below|over|under|beyond|short|missing|needs?|needed|remaining|remains?|left|to go|more',
    'exceed\\p{L}*|ahead|behind|away|off|gap|spare|fehl\\p{L}*|noch|über|unter|mehr|manqu\\p{L}*',
    'reste\\p{L}*|faltan?|faltam?|quedan?|manca\\p{L}*|resta\\p{L}*|nog|ontbre\\p{L}*|brakuje',
    'återstår|saknas|plus|más|più|mais|meer|mer|więcej',
  ],
  'あと|残り|不足|还差|还需|上回|下回',
);
