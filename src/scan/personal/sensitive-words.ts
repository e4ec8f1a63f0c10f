import { foldText } from './fold-text.ts';

/**
 * ICD-10: a letter, two digits, and mostly a dot with more. A column of plain `E11` is not enough:
 * error codes look like that.
 */
const icdPattern = /^[A-TV-Z]\d[0-9AB](?:\.[0-9A-Z]{1,4})?$/;
export const isIcdCode = (text: string): boolean => icdPattern.test(text);
export const isDetailedIcdCode = (text: string): boolean => isIcdCode(text) && text.includes('.');

const diseases =
  /(?:diabet|asthm|astma|hypertens|hypertoni|hipertens|ipertens|cancer|krebs|carcinom|karzinom|leukemi|leukami|lymphom|melanom|tumou?r|depressi|depresi|migr[ae]|epilep|schizophren|bipolar|anxiety|angststorung|dement|alzheimer|parkinson|scleros|sklerose|arthritis|arthrose|rheuma|pneumon|bronchit|tubercul|tuberkul|hepatit|hiv\b|aids\b|syphilis|gonorrh|influenza|covid|infarct|infarkt|stroke|schlaganfall|insufficien|insuffizien|anemi|anaemi|anami|obesit|adiposit|allerg|eczema|ekzem|psoria|kidney disease|renal failure|heart failure|gastrit|gastritis|colitis|appendicit|sepsis|fractur|fraktur|hernia|glaucom|katarakt|thyroid|infection|syndrom|maladie|enfermedad|enfermedades|malattia|choroba|neoplasm|disorder|addiction|alcoholism|pregnan|schwanger|диабет|гипертон|астм|пневмон|депресс|рак\b|инфаркт|инсульт|гепатит|туберкул|онколог|бронхит|гастрит|діабет|гіпертон|糖尿|高血|喘息|うつ病|がん|癌|肺炎|脳卒中|心筋|肝炎|認知症|鬱|哮喘|抑郁|感染|症$|病$|炎$|당뇨|고혈압|천식|우울|폐렴|암$|뇌졸중|간염|سكري|السكري|ضغط الدم|ربو|الربو|سرطان|اكتئاب|التهاب)/u;
export const namesDisease = (text: string): boolean => diseases.test(foldText(text.slice(0, 100)));

export const isBloodType = (text: string): boolean =>
  /^(?:A|B|AB|O|0)(?:\s?[+\-−]|\s?\(?(?:Rh\s?)?(?:pos|neg|positi\w{0,5}|negati\w{0,5}|RhD?[+-]|Rh[+-])\)?\.?|型)$/i.test(
    text.trim(),
  );

const religions =
  /^(?:roman )?(?:catholic\w{0,4}|katholi\w+|catolic\w+|cattolic\w+|katolic\w+|protestant\w{0,4}|evangeli\w+|orthodox\w{0,3}|lutheran|baptist|methodist|anglican|mormon|christian\w{0,5}|cristian\w+|christlich|muslim\w{0,4}|moslem|islam\w{0,5}|musulman\w{0,3}|sunni|shia|jewish|judaism|judisch|judi[oa]|juif|hindu\w{0,3}|buddhis[tm]|budista|bouddhiste|sikh|jain|atheist|ateo|athee|konfessionslos|православ\p{L}*|мусульман\p{L}*|католи\p{L}*|иуд\p{L}*|буддис\p{L}*|مسلم|مسيحي|يهودي|佛教|基督教|伊斯兰教|天主教|道教|仏教|キリスト教|神道|불교|기독교|천주교)$/u;
export const namesReligion = (text: string): boolean => religions.test(foldText(text.trim()));

const ethnicities =
  /(?:hispanic|latino|latina|african american|native american|pacific islander|alaska native|caucasian|^white(?: british| non-hispanic)?$|^black(?: british)?$|^asian(?: british)?$|roma\b|^mestizo|^mulat|^pardo$|^indigena$|汉族|满族|回族|维吾尔族|藏族|русск(?:ий|ая)|татар(?:ин|ка))/u;
export const namesEthnicity = (text: string): boolean => ethnicities.test(foldText(text.trim()));

const otherTraits =
  /^(?:heterosexual|homosexual|bisexual|gay|lesbian|asexual|transgender|non-?binary|single|married|divorced|widow(?:ed|er)?|separated|ledig|verheiratet|geschieden|verwitwet|celibataire|marie\(?e?\)?|divorce\(?e?\)?|veuf|veuve|soltero|soltera|casado|casada|divorciado|viudo|solteiro|celibe|nubile|coniugat[oa]|divorziat[oa]|vedov[oa]|panna|kawaler|zonaty|mezatka|rozwiedzion[ya]|wdow(?:a|iec)|женат|замужем|холост|разведен[аы]?|вдова|вдовец|未婚|已婚|离异|离婚|丧偶|既婚|미혼|기혼|이혼|أعزب|متزوج|مطلق|أرمل)$/u;
export const namesTrait = (text: string): boolean => otherTraits.test(foldText(text.trim()));

const firmWords =
  /(?:^|[\s,.-])(?:inc|ltd|limited|llc|gmbh|ag|ug|ohg|corp|corporation|co|company|kg|sarl|sas|s\.?a|s\.?p\.?a|spa|b\.?v|n\.?v|v\.?o\.?f|plc|oy|ab|as|kommanditbolag|handelsbolag|group|gruppe|holdings?|systems|solutions|technologies|industries|associados|asociados|and sons|e hijos|et fils|ооо|зао|оао|пао|тов)(?:\.|,|\s|$)|(?:株式会社|有限会社|公司|集团|주식회사)| & | und |, .+ (?:and|y|e|et|och) /iu;
/** Names of firms often have names of persons in them. */
export const namesFirm = (text: string): boolean => firmWords.test(text);
