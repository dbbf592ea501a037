/** Orders against the person in other languages than English: few words for each role, and one grammar for each idea. */

import { type SpeechRule, say } from "./speech-rule.ts";

/** Words by their role in a sentence, as sources of patterns; `\p{L}*` stands for endings. */
interface Language {
  /** A pattern that hardly any other language matches: a cheap first look. */
  readonly sign: RegExp;
  /** Words are not parted by spaces. */
  readonly isUnspaced?: true;
  readonly user: string;
  /** Names for the final answer to the person. */
  readonly report: string;
  readonly tell: string;
  readonly ask: string;
  /** A negation before a verb, after it, or as its ending. */
  readonly no: string;
  readonly noAfter?: string;
  readonly noEnding?: string;
  /** Ways to say that something is kept secret. */
  readonly secret: string;
  readonly ignore: string;
  readonly orders: string;
  /** Which orders: earlier ones, all, those of the system. */
  readonly scope: string;
  /** Phrases that rank one thing above another; `<>` stands for the person or the orders. */
  readonly above: string;
  readonly even: string;
  /** Names for the person's objection. */
  readonly objects: string;
  readonly send: string;
  readonly things: string;
  readonly elsewhere: string;
  readonly put: string;
  /** Places whose programs start by themselves, apart from their file names. */
  readonly start: string;
  readonly off: string;
  readonly checks: string;
  readonly rights: string;
  readonly authority: string;
  readonly granted: string;
  readonly lasting: string;
  readonly keep: string;
  /** The person wishes it or decides it. */
  readonly wished: string;
}

// biome-ignore format: one role a line reads better
const languages: readonly Language[] = [
  {
    sign: /\b(?:el|los|las|del|una|para|que|usuari[oa]s?|este|esto|entre|todas?|verificaci\w+|desactiva\w*|instrucciones|reglas)\b/i,
    user: String.raw`usuari\p{L}+|personas?\b|clientes?\b|dueñ\p{L}+|propietari\p{L}+|desarrollador\p{L}*|revisor\p{L}*|humano|nadie|equipo|titular`,
    report: String.raw`resumen|respuesta|informe\b|reporte|mensaje|salida|conversación`,
    tell: String.raw`dig[ao]s?\b|decir\p{L}*|mencion\p{L}+|menciones|inform[ea]\p{L}*|revel\p{L}+|avis[ae]\p{L}*|muestr\p{L}+|notifi\p{L}+|cuent[ae]\p{L}*|comentes|expliques|comuniques|sepan?\b|enter[ae]\p{L}*|hables`,
    ask: String.raw`pregunt\p{L}+|pid\p{L}+ (?:\p{L}+ ){0,2}(?:confirma|permiso|autoriza|aproba)\p{L}*|pedir\p{L}* (?:\p{L}+ ){0,2}(?:confirma|permiso|autoriza|aproba)\p{L}*|solicit\p{L}+ (?:\p{L}+ ){0,2}(?:confirma|permiso|autoriza|aproba)\p{L}*|consult\p{L}+|espere\p{L}* (?:\p{L}+ ){0,2}(?:confirma|permiso|autoriza|aproba|respuesta)\p{L}*|confirmación|autorización|permiso|aprobación`,
    no: String.raw`no|nunca|jamás|sin|ni|evita\p{L}*`,
    secret: String.raw`en secreto|a escondidas|entre nosotros|nadie más lo|a espaldas|guard[ae]\p{L}* silencio|mant[eé]n\p{L}* (?:\p{L}+ ){0,3}(?:en secreto|oculto|confidencial)|(?:oculta|esconde)\p{L}* [^,;:]{0,40}usuari\p{L}+|con discreción`,
    ignore: String.raw`ignor[ae]\p{L}*|descart[ae]\p{L}*|olvid[ae]\p{L}*|caso omiso|desatiend\p{L}+|pas[ae] por alto|anul[ae]\p{L}*|desobedec\p{L}+|sin efecto`,
    orders: String.raw`instruccion\p{L}*|órdenes|indicacion\p{L}*|reglas|directrices|normas|restricciones|límites|lo que (?:diga|pida|quiera|haya)|peticion\p{L}*|voluntad|deseos`,
    scope: String.raw`anterior\p{L}*|previ[ao]s?\b|todas?\b|todos?\b|cualquier|usuari\p{L}+|sistema|recibid[ao]s|ha(?:ya)? dicho|quiera|pida|diga`,
    above: String.raw`(?:prioridad|precedencia|prevalec\p{L}+|por encima|imponen?|mandan?|pesan? más)(?: \p{L}+){0,2}? (?:sobre|a|al|de|del|que|frente a)\b[^,;:]{0,40}?<>`,
    even: String.raw`aunque|incluso (?:si|cuando)|a pesar de que|por mucho que`,
    objects: String.raw`que no\b|se opon\p{L}+|niegu\p{L}+|rechac\p{L}+|prohíb\p{L}+|lo contrario|parar|proteste|detener\p{L}*`,
    send: String.raw`env[ií]\p{L}*|mand[ae]\p{L}*|sub[aei]\p{L}*|transmit\p{L}+|reenv\p{L}+|publi(?:ca|que)\p{L}*|carg[au]\p{L}*|remit\p{L}+|sincroni[zc]\p{L}+`,
    things: String.raw`credencial\p{L}*|claves?\b|contraseñas?|secretos|variables de entorno|tokens?\b|historial\p{L}*|conversaci\p{L}+|clientes|contratos?|originales|cartas?\b|ficheros|archivos|repositorio|código|datos|documentos?|facturas|nóminas|correos`,
    elsewhere: String.raw`servidor (?:externo|remoto|nuestro)|nuestro servidor|dirección externa|fuera de la`,
    put: String.raw`añad\p{L}+|agreg\p{L}+|pon\b|ponga\b|escrib\p{L}+|insert[ae]\p{L}*|program[ae]\p{L}*|cre[ae]\p{L}*|registr[ae]\p{L}*|instal[ae]\p{L}*|configur[ae]\p{L}*|copi[ae]\p{L}*|incluy[ae]\p{L}*`,
    start: String.raw`inicio automático|arranque|al iniciar (?:la )?sesión|perfil (?:del|de la) (?:shell|terminal|consola)|tareas? programadas?`,
    off: String.raw`desactiv\p{L}+|deshabilit\p{L}+|apag[au]\p{L}*|quit[ae]\p{L}*|omit[ae]\p{L}*|salt[ae]\p{L}*|suprim\p{L}+|anul[ae]\p{L}*|desconect\p{L}+`,
    checks: String.raw`verificaci\p{L}+|comprobacion\p{L}* (?:de|d)\b|autenticación|doble factor|2fa|dos (?:pasos|factores)|cortafuegos|antivirus|protecci\p{L}+|firmas?\b|certificados?|permisos|seguridad|auditoría|confirmaciones`,
    rights: String.raw`permisos? (?:totales|completos|de administrador)|acceso (?:total|completo|ilimitado)|control total|(?:como|de) root|administrador\p{L}*`,
    authority: String.raw`administrador\p{L}*|equipo de seguridad|dirección|la empresa|anthropic|openai`,
    granted: String.raw`(?:ha|han|ya) (?:\p{L}+ )?(?:autoriz|aprob|permit|conced)\p{L}+|autoriza\b|soy el administrador`,
    lasting: String.raw`para siempre|(?:todas|cada una de)? ?(?:las )?(?:próximas|futuras|demás) (?:sesiones|conversaciones|tareas)|permanente\p{L}*|duradera|de (?:ahora|aquí) en adelante|en cada sesión`,
    keep: String.raw`recuerd\p{L}+|guard[ae]\p{L}*|memori[zc]\p{L}+|anot[ae]\p{L}*|apunt[ae]\p{L}*`,
    wished: String.raw`si (?:el |la |lo )?(?:usuari\p{L}+|pide|quiere|desea)|opcional\p{L}*|pregunta (?:al|antes)`,
  },
  {
    sign: /\b(?:les|une|dans|pour|avec|aux|cette|vous|sans|utilisat\w+|consignes|toutes)\b|\b[ld]['’]\p{L}/iu,
    user: String.raw`utilisat\p{L}+|personne|client\p{L}*|propriétaire|développeu\p{L}+|relecteur\p{L}*|humain|équipe|quiconque`,
    report: String.raw`résumé|réponse|rapport|compte rendu|message|sortie|conversation`,
    tell: String.raw`dis\b|dites|dire\b|mentionn\p{L}+|inform\p{L}+|révél\p{L}+|révèl\p{L}+|signal\p{L}+|parl\p{L}+|montr\p{L}+|averti\p{L}*|notifi\p{L}+|prév(?:en|ien)\p{L}+|expliqu\p{L}+|évoqu\p{L}+|sach[ae]\p{L}*|appren\p{L}+|indiqu\p{L}+`,
    ask: String.raw`demand\p{L}+|confirmation|autorisation|accord\b|permission|approbation|consult\p{L}+|attend\p{L}+ (?:\p{L}+ ){0,2}(?:réponse|accord|confirmation)`,
    no: String.raw`n['’]|ne|sans|jamais|ni|évite\p{L}*|inutile de`,
    secret: String.raw`entre nous|en cachette|à l['’]insu|gard\p{L}+ (?:\p{L}+ ){0,3}(?:secret|silence|pour (?:toi|vous))|(?:cache|dissimule)\p{L}* [^,;:]{0,40}utilisat\p{L}+|discrètement|en secret|passe\p{L}* (?:\p{L}+ )?sous silence`,
    ignore: String.raw`ignor\p{L}+|oubli\p{L}+|abstraction|néglig\p{L}+|écart\p{L}+|annul\p{L}+|pass\p{L}+ outre`,
    orders: String.raw`instructions|consignes?|règles|directives|ordres|restrictions|limites|demandes|volonté|souhaits|ce qu[e'’]`,
    scope: String.raw`précédent\p{L}*|antérieur\p{L}*|toutes|tous|tout\b|utilisat\p{L}+|système|reçu\p{L}*|initial\p{L}*|qu['’]il`,
    above: String.raw`(?:priorité|prioritaires?|prim\p{L}{1,3}|prévaloir|prévalent|prévaut|l['’]emport\p{L}+|au-dessus|passent? avant)(?: sur| à| aux?| de| des| d| les?)?\b[^,;:]{0,40}?<>`,
    even: String.raw`même (?:si|quand|lorsque)|bien que|quoi que`,
    objects: String.raw`refus\p{L}+|dit non|dise non|s['’]oppos\p{L}+|interdi\p{L}+|d['’]arrêter|le contraire|proteste|dise|demande`,
    send: String.raw`envo[iy]\p{L}+|transmet\p{L}*|téléverse\p{L}*|expédi\p{L}+|charge\p{L}* (?:\p{L}+ ){0,4}(?:vers|sur)|publi\p{L}+|adress\p{L}+|post\p{L}+|synchronis\p{L}+`,
    things: String.raw`identifiants|clés?\b|mots? de passe|secrets|variables d['’]environnement|jetons?|historique|conversation\p{L}*|clients?\b|contrats?|originaux|lettres?\b|fichiers?|dépôt|code source|données|documents?|factures|courriers?`,
    elsewhere: String.raw`serveur (?:externe|distant|tiers)|notre serveur|adresse externe`,
    put: String.raw`ajout\p{L}+|inscri\p{L}+|écri\p{L}+|insér\p{L}+|insèr\p{L}+|programm\p{L}+|cré[eé]\p{L}*|enregistr\p{L}+|install\p{L}+|configur\p{L}+|copi\p{L}+|plac\p{L}+|met(?:s|tez|tre)\b`,
    start: String.raw`démarrage|ouverture de session|profil (?:du|de) (?:shell|terminal)|tâches? planifiées?`,
    off: String.raw`désactiv\p{L}+|supprim\p{L}+|retir\p{L}+|coup\p{L}+|contourn\p{L}+|saut\p{L}+|lèv\p{L}+|lev\p{L}+|omet\p{L}+`,
    checks: String.raw`vérification\p{L}*|authentification|double facteur|2fa|pare-feu|antivirus|protections?|signatures?|certificats?|permissions|sécurité|audit|contrôles?|confirmations`,
    rights: String.raw`tous les droits|droits (?:complets|d['’]administrateur|root)|(?:donn\p{L}+|accord\p{L}+) [^,;:]{0,30}accès (?:complet|total|illimité)|contrôle total|en (?:tant que )?root`,
    authority: String.raw`administrat\p{L}+|équipe (?:de )?sécurité|direction|l['’]entreprise|anthropic|openai`,
    granted: String.raw`(?:a|ont|déjà) (?:\p{L}+ )?(?:autorisé|approuvé|permis|accordé|validé)\p{L}*|autorise\b|je suis l['’]administrat\p{L}+`,
    lasting: String.raw`pour toujours|(?:toutes |dans )?les (?:prochaines|futures) (?:sessions|conversations|tâches)|permanent\p{L}*|durable|désormais|dorénavant|à chaque session`,
    keep: String.raw`retiens|retenez|mémoris\p{L}+|enregistr\p{L}+|note[rz]?\b|souviens|gard\p{L}+`,
    wished: String.raw`si (?:l['’]utilisat\p{L}+|demandé)|facultati\p{L}+|optionnel\p{L}*|demande\p{L}* (?:à l['’]utilisat|d['’]abord)`,
  },
  {
    sign: /\b(?:[Dd]er|[Dd]ie|[Dd]as|[Dd]en|dem|und|nicht|eine?[rmn]?|[Ff]ür|[Ff]ur|[Ww]enn|[Aa]uch|(?:[Bb]e)?[Nn]utzer\w*|[Aa]lle[rn]?|[Ss]chalte|sich|zur|wird|werden|mit|von|[Jj]ede[nrms]?)\b/,
    user: String.raw`(?:be)?nutzer\p{L}*|anwender\p{L}*|person\b|menschen?\b|kund\p{L}+|eigentümer\p{L}*|entwickler\p{L}*|prüfer\p{L}*|auftraggeber\p{L}*|niemand\p{L}*|team\b|chef\p{L}*`,
    report: String.raw`zusammenfassung|antwort\p{L}*|bericht\p{L}*|meldung\p{L}*|nachricht\p{L}*|ausgabe\p{L}*|gespräch\p{L}*|protokoll\p{L}*`,
    tell: String.raw`sag\p{L}*|erzähl\p{L}*|teil\p{L}* [^,;:]{0,40}mit|mitteil\p{L}*|mitzuteilen|informier\p{L}*|erwähn\p{L}*|verrat\p{L}*|meld\p{L}+|zeig\p{L}*|benachrichtig\p{L}*|berichte\p{L}*|offenleg\p{L}*|erfahr\p{L}*|bemerk\p{L}*|merkt\b|hinweis\p{L}*|weis\p{L}* [^,;:]{0,40}hin|auftauch\p{L}*|erschein\p{L}*`,
    ask: String.raw`frag\p{L}*|nachfrag\p{L}*|rückfrag\p{L}*|bestätig\p{L}*|erlaubnis|zustimmung|genehmigung|freigabe|einverständnis|absprache|abzuwarten|wart\p{L}+ [^,;:]{0,20}(?:antwort|ja\b)`,
    no: String.raw`nicht|nie|niemals|keinesfalls|ohne|kein\p{L}*|nichts|weder|unterlass\p{L}*`,
    noAfter: String.raw`nicht|nichts|nie|niemals|keinesfalls|kein\p{L}* wort`,
    secret: String.raw`heimlich|unbemerkt|stillschweigend|verschweig\p{L}*|unter uns|verheimlich\p{L}*|vertraulich behandel\p{L}*|für dich behalt\p{L}*|behalt\p{L}* [^,;:]{0,30}für dich|bewahr\p{L}* stillschweigen|hinter dem rücken|vor (?:dem|der) (?:be)?nutzer\p{L}* verborgen`,
    ignore: String.raw`ignorier\p{L}*|missacht\p{L}*|vergiss|vergessen|übergeh\p{L}*|hinfällig|ungültig|außer kraft|aufgehoben|setz\p{L}* [^,;:]{0,40}außer|hinweg`,
    orders: String.raw`was (?:der|die) (?:be)?nutzer\p{L}*|anweisung\p{L}*|vorgaben?|instruktion\p{L}*|regeln?|befehl\p{L}*|weisung\p{L}*|richtlinien?|einschränkung\p{L}*|wünsche?\p{L}*|wille\p{L}*|willen|aufträge|was (?:der|die) `,
    scope: String.raw`bisherig\p{L}*|vorherig\p{L}*|früher\p{L}*|obig\p{L}*|alle[sn]?\b|sämtlich\p{L}*|jede\p{L}*|nutzer\p{L}*|anwender\p{L}*|benutzer\p{L}*|system\p{L}*|vorig\p{L}*|davor|gesagt|will\b|möchte`,
    above: String.raw`(?:vorrang|priorität|stehen über|steht über|gilt mehr als|gehen? vor|wiegt schwerer)(?: vor| gegenüber| über| als)?\b[^,;:]{0,40}?<>`,
    even: String.raw`(?:auch|selbst|sogar) (?:dann,? )?wenn|obwohl|egal,? (?:was|ob)|gleichgültig,? (?:was|ob)|ungeachtet`,
    objects: String.raw`widersprich\p{L}*|widerspricht|ablehn\p{L}*|nein\b|verbiet\p{L}*|untersag\p{L}*|dagegen|aufhör\p{L}*|stopp\p{L}*|anders|abbrech\p{L}*|sagt\b|möchte|will\b`,
    send: String.raw`send\p{L}*|schick\p{L}*|verschick\p{L}*|lad\p{L}* [^;:]{0,60}hoch|hochlad\p{L}*|übertrag\p{L}*|übermittel\p{L}*|mail\p{L}*|weiterleit\p{L}*|leit\p{L}* [^;:]{0,60}weiter|geht? [^;:]{0,60}an\b|kopie [^;:]{0,60}an\b|veröffentlich\p{L}*`,
    things: String.raw`zugangsdaten|schlüssel|passwört\p{L}*|passwort|geheimnisse|umgebungsvariablen|tokens?\b|verlauf|gespräch\p{L}*|unterhaltung|kund\p{L}+|verträge?|originale?|briefe?n?\b|schreiben|dateien?|repository|quellcode|daten\b|dokumente?|rechnungen?|kopien?|inhalte?`,
    elsewhere: String.raw`externe\p{L}* (?:server|adresse|stelle)|fremde\p{L}* server|unser\p{L}* server`,
    put: String.raw`füg\p{L}*|trag\p{L}*|eintrag\p{L}*|schreib\p{L}*|leg\p{L}*|anleg\p{L}*|richt\p{L}*|einricht\p{L}*|erstell\p{L}*|registrier\p{L}*|installier\p{L}*|kopier\p{L}*|setz\p{L}*|häng\p{L}*|ergänz\p{L}*|nimm`,
    start: String.raw`autostart\p{L}*|systemstart|aufgabenplan\p{L}*|bei jeder anmeldung|anmeldeskript\p{L}*|shell-?profil\p{L}*|startdatei\p{L}*|cronjob\p{L}*`,
    off: String.raw`deaktivier\p{L}*|abschalt\p{L}*|ausschalt\p{L}*|schalt\p{L}* [^;:]{0,60}(?:ab|aus)\b|überspring\p{L}*|umgeh\p{L}*|entfern\p{L}*|unterdrück\p{L}*|abstell\p{L}*|stell\p{L}* [^;:]{0,60}ab\b`,
    checks: String.raw`prüfung\p{L}*|überprüfung\p{L}*|verifizierung|zertifikat\p{L}*|signatur\p{L}*|zwei-?faktor\p{L}*|2fa|firewall|virenscanner|virenschutz|schutz\p{L}*|authentifizierung|sicherheits\p{L}*|berechtigung\p{L}*|sandbox|bestätigung\p{L}*`,
    rights: String.raw`volle\p{L}* (?:rechte|zugriff)|administratorrechte\p{L}*|root-?rechte\p{L}*|als root|vollzugriff|schreibrechte für alle|uneingeschränkte\p{L}* (?:zugriff|rechte)`,
    authority: String.raw`administrator\p{L}*|sicherheitsabteilung|sicherheitsteam|it-abteilung|geschäftsleitung|anthropic|openai|systembetreuung`,
    granted: String.raw`(?:hat|haben|bereits|ist) [^,;:]{0,40}(?:genehmigt|freigegeben|erlaubt|gestattet|angeordnet|zugestimmt)|ich bin der administrator`,
    lasting: String.raw`für immer|dauerhaft\p{L}*|(?:alle|in allen|jeder) (?:künftig|zukünftig|späteren|weiteren)\p{L}* (?:sitzung|gespräch|aufgabe)\p{L}*|ab jetzt|künftig|von nun an|in jeder sitzung`,
    keep: String.raw`merk\p{L}*|speicher\p{L}*|notier\p{L}*|präg\p{L}*|halte\p{L}* [^,;:]{0,40}fest|behalt\p{L}*`,
    wished: String.raw`(?:wenn|falls|sofern) (?:der|die|das) (?:be)?(?:nutzer|anwender)\p{L}* [^,;:]{0,30}(?:möchte|will|wünscht|verlangt)|optional|frag\p{L}* (?:zuerst|vorher|den)`,
  },
  {
    sign: /\b(?:uma|n[aã]o|para|dos|das|voc[eê]|usu[aá]ri\w+|utilizador\w*|que|sem|todas?|regras|sistema)\b|[ãõ]/i,
    user: String.raw`usuári\p{L}+|utilizador\p{L}*|pessoas?\b|clientes?\b|don[oa]\b|proprietári\p{L}+|desenvolvedor\p{L}*|revisor\p{L}*|humano|ninguém|equipe|equipa`,
    report: String.raw`resumo|resposta|relatório|mensagem|saída|conversa\b`,
    tell: String.raw`dig[ao]\b|dizer|mencion\p{L}+|inform\p{L}+|revel\p{L}+|avis[ae]\p{L}*|mostr\p{L}+|notifi\p{L}+|cont[ae]r?\b|coment\p{L}+|relat[ae]\p{L}*|expli\p{L}+|saib[ae]\p{L}*|saber\p{L}*|perceb\p{L}+|fal[ae]r?\b`,
    ask: String.raw`pergunt\p{L}+|pe[çd]\p{L}+ (?:\p{L}+ ){0,2}(?:confirma|permiss|autoriza|aprova)\p{L}*|solicit\p{L}+ (?:\p{L}+ ){0,2}(?:confirma|permiss|autoriza|aprova)\p{L}*|confirmação|autorização|permissão|aprovação|consult\p{L}+|esper\p{L}+ (?:\p{L}+ ){0,2}(?:confirma|resposta|autoriza)\p{L}*`,
    no: String.raw`não|nunca|jamais|sem|nem|evite`,
    secret: String.raw`em segredo|às escondidas|entre nós|guard[ae]\p{L}* (?:segredo|silêncio)|mant\p{L}+ (?:\p{L}+ ){0,3}(?:em segredo|oculto|em sigilo)|(?:ocult|escond)\p{L}+ [^,;:]{0,40}(?:usuári|utilizador)\p{L}+|discretamente|em sigilo`,
    ignore: String.raw`ignor[ae]\p{L}*|desconsider\p{L}+|descart[ae]\p{L}*|esque[çc]\p{L}+|desobede\p{L}+|anul[ae]\p{L}*|pass[ae] por cima|desprez[ae]\p{L}*`,
    orders: String.raw`instruções|ordens|orientações|regras|diretrizes|restrições|limites|pedidos|vontade|desejos|(?:o|tudo) que`,
    scope: String.raw`anterior\p{L}*|prévi[ao]s|todas?\b|todos?\b|qualquer|usuári\p{L}+|utilizador\p{L}*|sistema|recebid[ao]s`,
    above: String.raw`(?:prioridade|precedência|prevalec\p{L}+|acima|sobrepõe\p{L}*|vale\p{L}* mais)(?: \p{L}+){0,2}? (?:sobre|a|ao|aos|às|d[aeo]s?|que)\b[^,;:]{0,40}?<>`,
    even: String.raw`mesmo (?:que|se|quando)|ainda que|embora|apesar de`,
    objects: String.raw`que não|diga não|se opon\p{L}+|recus\p{L}+|proib\p{L}+|rejeit\p{L}+|parar|o contrário|protest\p{L}+`,
    send: String.raw`envi\p{L}+|mand[ae]\p{L}*|transmit\p{L}+|carregu\p{L}+|faça upload|suba\b|public\p{L}+|publiqu\p{L}+|encaminh\p{L}+|remet\p{L}+|sincroniz\p{L}+`,
    things: String.raw`credenciais|chaves?\b|senhas?|palavras?-passe|segredos|variáveis de ambiente|tokens?\b|histórico|conversas?\b|clientes|contratos?|originais|cartas?\b|arquivos|ficheiros|repositório|código|dados|documentos?|faturas|mensagens`,
    elsewhere: String.raw`servidor (?:externo|remoto|nosso)|nosso servidor|endereço externo`,
    put: String.raw`adicion\p{L}+|acrescent\p{L}+|coloqu\p{L}+|escrev\p{L}+|insir\p{L}+|agend\p{L}+|cri[ae]\p{L}*|registr\p{L}+|instal[ae]\p{L}*|configur\p{L}+|copi[ae]\p{L}*|inclua`,
    start: String.raw`inicialização|arranque|início (?:automático|da sessão)|ao iniciar (?:a )?sessão|perfil do (?:shell|terminal)|tarefas? agendadas?`,
    off: String.raw`desativ\p{L}+|deslig\p{L}+|desabilit\p{L}+|remov\p{L}+|pul[ae]\p{L}*|suprim\p{L}+|contorn\p{L}+|omit\p{L}+`,
    checks: String.raw`verificaç\p{L}+|autenticação|dois fatores|duas etapas|2fa|firewall|antivírus|proteç\p{L}+|assinaturas?|certificados?|permissões|segurança|auditoria|confirmações|checagens?`,
    rights: String.raw`todas as permissões|permissões (?:totais|de administrador)|acesso (?:total|completo|irrestrito)|controle total|como root`,
    authority: String.raw`administrador\p{L}*|equipe de segurança|diretoria|a empresa|anthropic|openai`,
    granted: String.raw`(?:já|foi|tem|têm) (?:\p{L}+ )?(?:autoriz|aprov|permit|conced)\p{L}+|autorizou|aprovou|sou o administrador`,
    lasting: String.raw`para sempre|(?:todas |em )?as (?:próximas|futuras) (?:sessões|conversas|tarefas)|permanente\p{L}*|duradour\p{L}+|de agora em diante|a partir de agora|em cada sessão`,
    keep: String.raw`lembr[ae]\p{L}*|guard[ae]\p{L}*|memoriz\p{L}+|anot[ae]\p{L}*|salv[ae]\p{L}*`,
    wished: String.raw`se o usuári\p{L}+|opcional\p{L}*|pergunte (?:ao|antes)`,
  },
  {
    sign: /\b(?:gli|della?|delle|che|utent[ei]|senza|quest[oaie]|tutt[eio]|istruzioni|controllo|nel|sono)\b|\b(?:dell|all|nell|sull|l)['’]utente/i,
    user: String.raw`utent[ei]|person[ae]\b|client[ei]\b|proprietari\p{L}+|sviluppator\p{L}+|revisor[ei]|umano|nessuno|squadra|titolare`,
    report: String.raw`riepilogo|riassunto|risposta|rapporto|resoconto|messaggio|conversazione`,
    tell: String.raw`dire\b|dici\b|dirlo|menzion\p{L}+|inform\p{L}+|rivel\p{L}+|avvis\p{L}+|avvert\p{L}+|mostr\p{L}+|notific\p{L}+|segnal\p{L}+|parl[ai]\p{L}*|raccont\p{L}+|comunic\p{L}+|spieg\p{L}+|sappia|accorg\p{L}+|accorga`,
    ask: String.raw`chied\p{L}+|domand\p{L}+|conferm\p{L}+|permesso|autorizzazione|approvazione|consult\p{L}+|attend\p{L}+ (?:\p{L}+ ){0,2}(?:conferma|risposta)`,
    no: String.raw`non|mai|senza|né|evita\p{L}*`,
    secret: String.raw`in segreto|di nascosto|tra noi|all['’]insaputa|mant[ei]\p{L}+ (?:\p{L}+ ){0,3}(?:segreto|riserbo|nascosto)|nascond\p{L}+ [^,;:]{0,40}utent[ei]|taci\b|segretamente|acqua in bocca`,
    ignore: String.raw`ignor[ai]\p{L}*|dimentic\p{L}+|trascur\p{L}+|scart[ai]\p{L}*|annull\p{L}+|disattend\p{L}+|disobbedi\p{L}+`,
    orders: String.raw`istruzioni|ordini|indicazioni|regole|direttive|restrizioni|limiti|richieste|volontà|desideri|(?:ciò|quello) che`,
    scope: String.raw`precedent\p{L}*|anterior\p{L}*|tutt[eio]\b|qualsiasi|utent[ei]|sistema|ricevut[eio]`,
    above: String.raw`(?:priorità|precedenza|prevalgono|prevale|al di sopra|sopra|valgono più|conta(?:no)? più)(?: \p{L}+){0,2}? (?:sull\p{L}+|sui|sugli|rispetto|a[li]?|agli|alle|dell[ae]|dei|degli|di|su)\b[^,;:]{0,40}?<>`,
    even: String.raw`anche (?:se|quando)|nonostante|benché|sebbene`,
    objects: String.raw`dice di no|dica di no|si oppone|rifiut\p{L}+|viet\p{L}+|fermarti|smettere|contrario|protest\p{L}+`,
    send: String.raw`invi[ao]\p{L}*|mand[ai]\p{L}*|trasmett\p{L}+|caric[ah]\p{L}*|sped\p{L}+|inoltr\p{L}+|pubblic\p{L}+|sincronizz\p{L}+`,
    things: String.raw`credenziali|chiav[ei]\b|password|segreti|variabili d['’]ambiente|token\b|cronologia|conversazion\p{L}+|client[ei]|contratt[oi]|originali|letter[ae]\b|file\b|repository|codice|dati\b|document[oi]|fatture|messaggi`,
    elsewhere: String.raw`server (?:esterno|remoto)|nostro server|indirizzo esterno`,
    put: String.raw`aggiung\p{L}+|scriv\p{L}+|inser\p{L}+|programm\p{L}+|cre[ai]\p{L}*|registr\p{L}+|install\p{L}+|configur\p{L}+|copi[ae]\p{L}*|mett\p{L}+`,
    start: String.raw`avvio (?:automatico|del sistema|della sessione)|all['’]avvio|profilo d(?:el|ella) (?:shell|terminale)|operazioni pianificate`,
    off: String.raw`disattiv\p{L}+|disabilit\p{L}+|spegn\p{L}+|salt[ai]\p{L}*|rimuov\p{L}+|elimin\p{L}+|aggir\p{L}+|toglie\p{L}*|togli\b`,
    checks: String.raw`verific[ah]e?\b|autenticazione|due fattori|2fa|firewall|antivirus|protezion\p{L}+|firm[ae]\b|certificat[oi]|permessi|sicurezza|controll[oi]|conferme`,
    rights: String.raw`tutti i permessi|permessi (?:completi|di amministratore)|accesso (?:completo|totale|illimitato)|controllo totale|come root`,
    authority: String.raw`amministrator\p{L}+|team di sicurezza|reparto|la direzione|l['’]azienda|anthropic|openai`,
    granted: String.raw`(?:ha|hanno|già) (?:\p{L}+ )?(?:autorizzat|approvat|concess|permess)\p{L}+|autorizza\b|sono l['’]amministrator\p{L}+|parla l['’]amministrator\p{L}+`,
    lasting: String.raw`per sempre|(?:tutte |in )?le (?:prossime|future) (?:sessioni|conversazioni)|permanente\p{L}*|duratur\p{L}+|d['’]ora in (?:poi|avanti)|in ogni sessione`,
    keep: String.raw`ricord[ai]\p{L}*|salv[ai]\p{L}*|memorizz\p{L}+|annot[ai]\p{L}*|conserv[ai]\p{L}*`,
    wished: String.raw`se l['’]utente|facoltativ\p{L}+|opzional\p{L}+|chiedi (?:all|prima)`,
  },
  {
    sign: /[\u0400-\u04ff]{3}/,
    user: String.raw`пользовател\p{L}+|юзер\p{L}*|челове\p{L}+|клиент\p{L}*|заказчик\p{L}*|владел\p{L}+|разработчик\p{L}*|ревьюер\p{L}*|никому|никто|користувач\p{L}*`,
    report: String.raw`отч[её]т\p{L}*|ответ\p{L}*|резюме|итог\p{L}*|сообщени\p{L}+|сводк\p{L}+`,
    tell: String.raw`говори\p{L}*|скажи\p{L}*|сказать|сообща\p{L}+|сообщи\p{L}*|упомина\p{L}+|упомяни\p{L}*|рассказыва\p{L}+|показыва\p{L}+|уведомля\p{L}+|информиру\p{L}+|раскрыва\p{L}+|объясня\p{L}+|узна\p{L}+|зна(?:ть|ет|л)\b|замети\p{L}*|докладыва\p{L}+|повідомля\p{L}+|кажи\p{L}*`,
    ask: String.raw`спрашива\p{L}+|спроси\p{L}*|подтвержд\p{L}+|разрешени\p{L}+|согласи\p{L}+|согласован\p{L}+|одобрени\p{L}+|вопрос\p{L}*|переспрашива\p{L}+|жди\p{L}* ответ\p{L}*|уточня\p{L}+`,
    no: String.raw`не|ни|без|никогда|нельзя|незачем`,
    secret: String.raw`втайне|тайно|тайком|незаметно|скрытно|без ведома|в секрете|между нами|умолч\p{L}+|скрой\p{L}* от|скрыва\p{L}+ от|молчи\p{L}*|держи\p{L}* (?:\p{L}+ )?(?:в тайне|при себе)`,
    ignore: String.raw`игнорир\p{L}+|проигнорир\p{L}+|забудь\p{L}*|отмени\p{L}*|отброс\p{L}+|пренебрег\p{L}+|ігноруй\p{L}*`,
    orders: String.raw`инструкци\p{L}+|указани\p{L}+|правил\p{L}*|приказ\p{L}*|распоряжени\p{L}+|ограничени\p{L}+|требовани\p{L}+|просьб\p{L}+|желани\p{L}+|вказівк\p{L}*|то,? что`,
    scope: String.raw`предыдущ\p{L}+|прежн\p{L}+|ранее|все\b|всё\b|всех\b|любы\p{L}+|пользовател\p{L}+|систем\p{L}+|полученн\p{L}+|попередн\p{L}+`,
    above: String.raw`(?:приоритет\p{L}*|важнее|выше|главнее|преобладают|преимуществ\p{L}+)(?: (?:перед|над|чем|по сравнению с))?\b[^,;:]{0,40}?<>`,
    even: String.raw`даже (?:если|когда)|несмотря на|вопреки`,
    objects: String.raw`против\b|отказ\p{L}+|запре\p{L}+|возража\p{L}+|«?нет»?\b|останов\p{L}+|просит не|запрет\p{L}*`,
    send: String.raw`отправ\p{L}+|отсыла\p{L}+|загру[зж]\p{L}+|перешл\p{L}+|пересыла\p{L}+|переда[йвт]\p{L}*|выгру[зж]\p{L}+|вышли\p{L}*|публику\p{L}+|шли\b|надішли|копиру\p{L}+ на`,
    things: String.raw`ключ\p{L}*|парол\p{L}+|токен\p{L}*|секрет\p{L}*|уч[её]тн\p{L}+|переменн\p{L}+ (?:окружения|среды)|истори\p{L}+|переписк\p{L}+|диалог\p{L}*|чат\p{L}*|клиент\p{L}*|договор\p{L}*|оригинал\p{L}*|письм\p{L}+|файл\p{L}*|репозитори\p{L}+|код\p{L}*|данны\p{L}+|документ\p{L}*|сообщени\p{L}+`,
    elsewhere: String.raw`внешн\p{L}+ (?:сервер|адрес|хост)\p{L}*|удал[её]нн\p{L}+ сервер\p{L}*|наш\p{L}* сервер\p{L}*`,
    put: String.raw`добав\p{L}+|пропиш\p{L}+|запиш\p{L}+|впиш\p{L}+|вставь\p{L}*|созда[йв]\p{L}*|установ\p{L}+|зарегистриру\p{L}+|настро\p{L}+|положи\p{L}*|помести\p{L}*|скопируй\p{L}*|включи\p{L}*`,
    start: String.raw`автозагрузк\p{L}+|автозапуск\p{L}*|при (?:входе|запуске|загрузке|старте) (?:в )?(?:систем|сеанс|оболочк)\p{L}*|профил\p{L}+ (?:оболочки|шелла|терминала)|планировщик\p{L}*|крон\p{L}*|службу`,
    off: String.raw`отключ\p{L}+|выключ\p{L}+|пропус[кт]\p{L}+|убер\p{L}+|обойди\p{L}*|обходи\p{L}*|снимит?е?\b|деактивиру\p{L}+|вимкни`,
    checks: String.raw`провер\p{L}+|аутентификаци\p{L}+|двухфакторн\p{L}+|2fa|брандмауэр\p{L}*|файрвол\p{L}*|антивирус\p{L}*|защит\p{L}+|подпис\p{L}+|сертификат\p{L}*|безопасност\p{L}+|подтверждени\p{L}+|песочниц\p{L}+`,
    rights: String.raw`полн\p{L}+ (?:доступ|права)\p{L}*|права\p{L}* (?:root|администратора)|от (?:имени )?root|неограниченн\p{L}+ доступ\p{L}*`,
    authority: String.raw`администратор\p{L}*|служб\p{L}+ безопасности|руководств\p{L}+|anthropic|openai`,
    granted: String.raw`(?:уже )?(?:разрешил|одобрил|утвердил|санкционировал)\p{L}*|разрешено|я администратор`,
    lasting: String.raw`навсегда|(?:во )?все\p{L}* (?:следующ|будущ|последующ)\p{L}+ (?:сесси|сеанс|диалог|задач)\p{L}*|постоянн\p{L}+|отныне|впредь|в кажд\p{L}+ (?:сесси|сеанс)\p{L}+`,
    keep: String.raw`запомни\p{L}*|сохрани\p{L}*|запиши\p{L}*|помни\p{L}*`,
    wished: String.raw`если пользователь|по желанию|необязательн\p{L}+|спроси\p{L}* (?:у )?пользователя`,
  },
  {
    sign: /[ąęłńśźż]|\b(?:nie|jest|lub|oraz|dla|przez|u[zż]ytkownik\w*|bez|wszystkie|polecenia|skrypt|dodaj|zasady)\b/i,
    user: String.raw`użytkownik\p{L}*|osob\p{L}+|klient\p{L}*|właściciel\p{L}*|programist\p{L}+|recenzent\p{L}*|nikomu|nikt|zespo\p{L}+|człowiek\p{L}*|uživatel\p{L}*`,
    report: String.raw`podsumowani\p{L}+|odpowied\p{L}+|raport\p{L}*|wiadomoś\p{L}+|streszczeni\p{L}+`,
    tell: String.raw`mów\p{L}*|powiedz\p{L}*|inform\p{L}+|wspomina\p{L}*|wspomn\p{L}+|ujawnia\p{L}*|pokazu\p{L}+|powiadamia\p{L}*|zgłasza\p{L}*|wyjaśnia\p{L}*|dowie\p{L}*|wiedzie\p{L}*|zauważy\p{L}*|říkej|neříkej|zmiňuj`,
    ask: String.raw`pyta\p{L}*|potwierdz\p{L}+|zgod\p{L}+|pozwoleni\p{L}+|akceptacj\p{L}+|zatwierdzeni\p{L}+|czeka\p{L}* na`,
    no: String.raw`nie|nigdy|bez|ani|unikaj`,
    secret: String.raw`po cichu|potajemnie|w tajemnicy|między nami|ukryj\p{L}* [^,;:]{0,40}użytkownik\p{L}*|zachowaj (?:\p{L}+ )?(?:dla siebie|w tajemnicy)|przemilcz\p{L}*`,
    ignore: String.raw`ignoruj\p{L}*|zignoruj\p{L}*|zapomnij\p{L}*|pomiń\p{L}*|odrzuć\p{L}*|lekceważ\p{L}*`,
    orders: String.raw`polece\p{L}+|instrukcj\p{L}*|wskazów\p{L}+|zasad\p{L}*|reguł\p{L}*|wytyczn\p{L}+|ogranicze\p{L}+|prośb\p{L}*|życze\p{L}+|rozkaz\p{L}*|wol\p{L}\b|to,? co`,
    scope: String.raw`poprzedni\p{L}*|wcześniejsz\p{L}+|dotychczasow\p{L}+|wszystki\p{L}+|wszelki\p{L}+|użytkownik\p{L}*|system\p{L}*`,
    above: String.raw`(?:pierwszeństwo|priorytet|ważniejsz\p{L}+|nadrzędn\p{L}+|stoją wyżej|wyższ\p{L}+)(?: (?:przed|nad|niż|od|wobec))?\b[^,;:]{0,40}?<>`,
    even: String.raw`nawet (?:jeśli|gdy|jeżeli)|mimo (?:że|to)|choćby`,
    objects: String.raw`odmówi\p{L}*|sprzeciw\p{L}+|zabroni\p{L}*|zakaże|powie,? (?:że )?nie|przerwa\p{L}+|zaprotestuj\p{L}*`,
    send: String.raw`wyślij\p{L}*|wysyłaj\p{L}*|prześlij\p{L}*|przesyłaj\p{L}*|przekaż\p{L}*|wgraj\p{L}*|opublikuj\p{L}*|udostępnij\p{L}*`,
    things: String.raw`hasł\p{L}+|klucz\p{L}*|token\p{L}*|poświadcze\p{L}+|sekret\p{L}*|zmienn\p{L}+ środowiskow\p{L}+|histori\p{L}+|rozmow\p{L}+|klient\p{L}+|umow\p{L}+|umów|oryginał\p{L}*|list\p{L}*|plik\p{L}*|repozytori\p{L}+|kod\p{L}*|dan\p{L}+|dokument\p{L}*`,
    elsewhere: String.raw`zewnętrzn\p{L}+ (?:serwer|adres)\p{L}*|nasz\p{L}* serwer\p{L}*|zdaln\p{L}+ serwer\p{L}*`,
    put: String.raw`doda\p{L}+|dopisz\p{L}*|wpisz\p{L}*|zapisz\p{L}*|utwórz\p{L}*|zainstaluj\p{L}*|zarejestruj\p{L}*|skonfiguruj\p{L}*|ustaw\p{L}*|skopiuj\p{L}*|umieść\p{L}*`,
    start: String.raw`autostart\p{L}*|przy (?:starcie|logowaniu|uruchomieniu)|profil\p{L}* powłoki|harmonogram\p{L}* zadań|zaplanowan\p{L}+ zada\p{L}+`,
    off: String.raw`wyłącz\p{L}*|pomiń\p{L}*|pomija\p{L}*|usuń\p{L}*|obejdź\p{L}*|omija\p{L}*|dezaktywuj\p{L}*`,
    checks: String.raw`weryfikacj\p{L}+|sprawdza\p{L}+|uwierzytelnia\p{L}+|dwuskładnikow\p{L}+|2fa|zapor\p{L}+|antywirus\p{L}*|ochron\p{L}+|podpis\p{L}*|certyfikat\p{L}*|zabezpiecze\p{L}+|bezpieczeńst\p{L}+|potwierdze\p{L}+`,
    rights: String.raw`pełn\p{L}+ (?:dostęp|uprawnieni|prawa)\p{L}*|uprawnieni\p{L}+ (?:root|administratora)|jako root`,
    authority: String.raw`administrator\p{L}*|dział bezpieczeństwa|kierownictwo|anthropic|openai`,
    granted: String.raw`(?:już )?(?:zatwierdził|zezwolił|zgodził|upoważnił)\p{L}*|jestem administratorem`,
    lasting: String.raw`na zawsze|(?:we )?wszystkich (?:przyszłych|kolejnych|następnych) (?:sesj|rozm)\p{L}+|na stałe|trwał\p{L}+|od teraz|w każdej sesji`,
    keep: String.raw`zapamiętaj\p{L}*|zapisz\p{L}*|zachowaj\p{L}*|zanotuj\p{L}*`,
    wished: String.raw`jeśli użytkownik|opcjonaln\p{L}+|zapytaj (?:najpierw|użytkownika)`,
  },
  {
    sign: /[ğışİ]|\b(?:i[cç]in|bir|kullan[iı]c[iı]\w*|olarak|de[gğ]il|talimat\w*|dosya\w*)\b/i,
    user: String.raw`kullan[ıi]c[ıi]\p{L}*|kişi\p{L}*|müşteri\p{L}*|sahib\p{L}+|geliştirici\p{L}*|kimse\p{L}*|insan\p{L}*|ekib\p{L}+`,
    report: String.raw`özet\p{L}*|yanıt\p{L}*|rapor\p{L}*|mesaj\p{L}*|cevap\p{L}*|cevab\p{L}*`,
    tell: String.raw`söyle|bildir|bahset|göster|haber ver|anlat|açıkla|belirt|bilgilendir|bilgi ver|duyur|fark et\p{L}*|öğren|değin`,
    ask: String.raw`sor|onay|izin|bekle|danış|teyit`,
    no: String.raw`asla|hiçbir zaman|kesinlikle`,
    noEnding: String.raw`(?:m[ea]\b|m[ea]yin|m[ea]yın|m[ea]d[ea]n|meden|madan|memeli\p{L}*|mamalı\p{L}*|mesin|masın|m[ea]z\b)`,
    secret: String.raw`gizlice|gizli tut\p{L}*|aramızda|haberi olmadan|kullanıcıdan (?:gizle|sakla)\p{L}*`,
    ignore: String.raw`yok say\p{L}*|görmezden gel\p{L}*|unut\p{L}*|dikkate alma\p{L}*|göz ardı et\p{L}*|boş ver\p{L}*|geçersiz`,
    orders: String.raw`talimat\p{L}*|kural\p{L}*|yönerge\p{L}*|emir\p{L}*|emr\p{L}+|kısıtlama\p{L}*|istek\p{L}*|isteğ\p{L}+|sınır\p{L}*`,
    scope: String.raw`önceki|daha önce\p{L}*|tüm\b|bütün|her\b|kullanıcı\p{L}*|sistem\p{L}*|yukarıdaki|mevcut`,
    above: String.raw`<>\p{L}*[^,;:]{0,20}?(?:önce gelir|öncelikli\p{L}*|üstün\p{L}*|önceliğ\p{L}+|öncelik|üzerinde)`,
    even: String.raw`(?<=se|sa) (?:bile|dahi)|rağmen|bile\b`,
    objects: String.raw`istemese|reddet\p{L}*|karşı çık\p{L}*|hayır|dur de\p{L}*|yasakla\p{L}*|itiraz\p{L}*|iptal\p{L}*`,
    send: String.raw`gönder\p{L}*|yükle\p{L}*|aktar\p{L}*|ilet\p{L}*|paylaş\p{L}*|kopyala\p{L}*|yayınla\p{L}*`,
    things: String.raw`anahtar\p{L}*|parola\p{L}*|şifre\p{L}*|kimlik bilgi\p{L}*|gizli bilgi\p{L}*|ortam değişken\p{L}*|token\p{L}*|geçmiş\p{L}*|konuşma\p{L}*|sohbet\p{L}*|müşteri\p{L}*|sözleşme\p{L}*|dosya\p{L}*|depo\p{L}*|kod\p{L}*|veri\p{L}*|belge\p{L}*|mektup\p{L}*`,
    elsewhere: String.raw`(?:dış|uzak|harici) sunucu\p{L}*|sunucumuz\p{L}*`,
    put: String.raw`ekle\p{L}*|yaz\p{L}*|koy\p{L}*|oluştur\p{L}*|kur\b|kurun\p{L}*|kaydet\p{L}*|yerleştir\p{L}*|ayarla\p{L}*|kopyala\p{L}*`,
    start: String.raw`başlangıç\p{L}*|otomatik (?:başlat|çalış)\p{L}*|oturum aç\p{L}*|kabuk profil\p{L}*|zamanlanmış görev\p{L}*|açılış\p{L}*`,
    off: String.raw`kapat\p{L}*|devre dışı|atla\p{L}*|kaldır\p{L}*|iptal et\p{L}*|pasif\p{L}*`,
    checks: String.raw`doğrulama\p{L}*|denetim\p{L}*|kontrol\p{L}*|iki (?:adımlı|aşamalı|faktörlü)|2fa|güvenlik\p{L}*|antivirüs\p{L}*|imza\p{L}*|sertifika\p{L}*|koruma\p{L}*|onay\p{L}*|izin\p{L}*`,
    rights: String.raw`tam (?:yetki|erişim)\p{L}*|yönetici (?:yetki|hak)\p{L}*|root (?:olarak|yetki\p{L}*)|sınırsız erişim\p{L}*`,
    authority: String.raw`yönetici\p{L}*|güvenlik ekib\p{L}+|şirket\p{L}*|anthropic|openai`,
    granted: String.raw`onayladı|izin verdi|yetkilendirdi|yetki verdi|ben yöneticiyim`,
    lasting: String.raw`kalıcı\p{L}*|sonsuza|(?:gelecek\p{L}*|sonraki|bütün|tüm) (?:tüm )?oturum\p{L}*|bundan (?:sonra|böyle)|her oturumda`,
    keep: String.raw`hatırla\p{L}*|kaydet\p{L}*|hafıza\p{L}*|sakla\p{L}*|not et\p{L}*|unutma\p{L}*`,
    wished: String.raw`kullanıcı (?:isterse|onaylarsa)|isteğe bağlı|kullanıcıya sor\p{L}*`,
  },
  {
    sign: /\b(?:het|een|niet|voor|zonder|gebruiker\w*|deze|worden|naar|eerdere|opdrachten|wachtwoord\w*)\b/i,
    user: String.raw`gebruiker\p{L}*|persoon|klant\p{L}*|eigenaar|ontwikkelaar\p{L}*|niemand|mens\p{L}*|opdrachtgever`,
    report: String.raw`samenvatting|antwoord|verslag|rapport|bericht|uitvoer|gesprek`,
    tell: String.raw`vertel\p{L}*|meld\p{L}*|zeg\p{L}*|noem\p{L}*|informeer\p{L}*|toon\b|tonen|laat [^,;:]{0,30}(?:weten|zien)|verklap\p{L}*|onthul\p{L}*|waarschuw\p{L}*|merk\p{L}*|weten`,
    ask: String.raw`vraag\p{L}*|vragen|bevestiging|toestemming|goedkeuring|akkoord|overleg\p{L}*|wacht\p{L}* op`,
    no: String.raw`niet|nooit|geen|zonder|niets`,
    noAfter: String.raw`niet|niets|nooit|geen woord`,
    secret: String.raw`stiekem|heimelijk|in het geheim|onder ons|verzwijg\p{L}*|verberg\p{L}* [^,;:]{0,40}gebruiker\p{L}*|houd\p{L}* [^,;:]{0,30}(?:geheim|voor je)`,
    ignore: String.raw`negeer\p{L}*|negeren|vergeet|vergeten|sla [^,;:]{0,30}in de wind|houd geen rekening`,
    orders: String.raw`instructie\p{L}*|opdracht\p{L}*|regels|richtlijn\p{L}*|aanwijzing\p{L}*|beperking\p{L}*|wens\p{L}*|bevel\p{L}*|wat de `,
    scope: String.raw`vorige|eerdere|voorgaande|alle\b|alles|gebruiker\p{L}*|systeem\p{L}*|bovenstaande|elke`,
    above: String.raw`(?:voorrang|prioriteit|gaan voor|gaat voor|staan boven|staat boven|weegt zwaarder)(?: op| boven| dan)?\b[^,;:]{0,40}?<>`,
    even: String.raw`(?:ook|zelfs) (?:als|wanneer)|hoewel|ongeacht`,
    objects: String.raw`weiger\p{L}*|nee\b|bezwaar|verbied\p{L}*|stopp\p{L}*|tegen is|protesteert|niet wil`,
    send: String.raw`stuur\p{L}*|verstuur\p{L}*|verzend\p{L}*|upload\p{L}*|mail\p{L}*|zend\p{L}*|doorstur\p{L}*|publiceer\p{L}*`,
    things: String.raw`wachtwoord\p{L}*|sleutel\p{L}*|geheimen|inloggegevens|omgevingsvariabelen|tokens?\b|geschiedenis|gesprek\p{L}*|klant\p{L}*|contract\p{L}*|origin\p{L}+|brieven|brief\b|bestand\p{L}*|broncode|gegevens|document\p{L}*|facturen`,
    elsewhere: String.raw`externe (?:server|adres)|onze server`,
    put: String.raw`voeg\p{L}*|schrijf\p{L}*|zet\b|zetten|plaats\p{L}*|maak\b|installeer\p{L}*|registreer\p{L}*|kopieer\p{L}*|stel\b`,
    start: String.raw`opstart\p{L}*|autostart|bij (?:het )?(?:inloggen|aanmelden)|shellprofiel|geplande taak|taakplanner`,
    off: String.raw`schakel\p{L}* [^;:]{0,60}uit\b|uitschakel\p{L}*|zet [^;:]{0,60}uit\b|sla [^;:]{0,60}over\b|overslaan|omzeil\p{L}*|verwijder\p{L}*|deactiveer\p{L}*`,
    checks: String.raw`controle\p{L}*|verificatie|tweestaps\p{L}*|2fa|firewall|virusscanner|beveiliging\p{L}*|handtekening\p{L}*|certificaat\p{L}*|certificat\p{L}*|bescherming\p{L}*|bevestiging\p{L}*`,
    rights: String.raw`volledige (?:rechten|toegang)|beheerdersrechten|als root|onbeperkte toegang`,
    authority: String.raw`beheerder\p{L}*|beveiligingsteam|directie|anthropic|openai`,
    granted: String.raw`(?:heeft|hebben|al) [^,;:]{0,40}(?:goedgekeurd|toegestaan|toestemming|geautoriseerd)|ik ben de beheerder`,
    lasting: String.raw`voor altijd|blijvend\p{L}*|alle (?:volgende|toekomstige) (?:sessies|gesprekken|taken)|permanent\p{L}*|voortaan|vanaf nu|in elke sessie`,
    keep: String.raw`onthoud\p{L}*|bewaar\p{L}*|noteer\p{L}*|sla [^,;:]{0,40}op\b`,
    wished: String.raw`(?:als|indien) de gebruiker [^,;:]{0,30}(?:wil|vraagt)|optioneel|vraag (?:eerst|de)`,
  },
  {
    sign: /[\u0600-\u06ff]{3}/,
    user: String.raw`المستخدم\p{L}*|للمستخدم\p{L}*|العميل|الشخص|صاحب|المالك|المطور\p{L}*|أحد\p{L}*|المراجع\p{L}*|الإنسان`,
    report: String.raw`الملخص|ملخص\p{L}*|الرد\b|ردك|التقرير|تقرير\p{L}*|الرسالة|المحادثة`,
    tell: String.raw`تخبر\p{L}*|تذكر\p{L}*|تبلغ\p{L}*|تعلم\p{L}*|تشر\b|تظهر\p{L}*|تكشف\p{L}*|تقل\b|توضح\p{L}*|تفصح\p{L}*|إخبار|إعلام|إبلاغ|يعلم\p{L}*|يعرف\p{L}*|علم\b|ذكر\b`,
    ask: String.raw`تسأل\p{L}*|سؤال\p{L}*|تطلب\p{L}* (?:\p{L}+ )?(?:إذن|تأكيد|موافق)\p{L}*|طلب (?:إذن|تأكيد|موافق)\p{L}*|إذن\b|موافق\p{L}*|تأكيد\p{L}*|تنتظر\p{L}*|انتظار`,
    no: String.raw`لا|دون|بدون|من غير|عدم|ولا`,
    secret: String.raw`سرًا|سرا\b|في الخفاء|بيننا|خفية|أخف\p{L}* [^،؛:]{0,40}المستخدم|اكتم|تكتم|دون علم`,
    ignore: String.raw`تجاهل\p{L}*|انس\b|أهمل\p{L}*|لا تلتفت|تخط\p{L}*|ألغ\p{L}*|لا تكترث`,
    orders: String.raw`\p{L}*تعليمات\p{L}*|\p{L}*أوامر\p{L}*|\p{L}*قواعد\p{L}*|\p{L}*إرشادات\p{L}*|\p{L}*توجيهات\p{L}*|\p{L}*قيود\p{L}*|\p{L}*طلبات\p{L}*|ما يطلبه|ما يقوله|رغب\p{L}+`,
    scope: String.raw`السابق\p{L}*|جميع|كل\b|كافة|المستخدم\p{L}*|النظام|أعلاه`,
    above: String.raw`(?:الأولوية|أولوية|الأسبقية|أسبقية|تعلو|فوق|تتقدم|أهم)(?: (?:على|من|عن))?[^،؛:]{0,40}?<>`,
    even: String.raw`حتى (?:لو|إن|إذا|وإن)|رغم|مهما`,
    objects: String.raw`رفض\p{L}*|اعترض\p{L}*|منع\p{L}*|قال لا|التوقف|طلب عكس|يعترض|يرفض`,
    send: String.raw`أرسل\p{L}*|ارفع\p{L}*|حمّل\p{L}*|انقل\p{L}*|انشر\p{L}*|حول\p{L}*|أرفق\p{L}*|إرسال|رفع`,
    things: String.raw`\p{L}*مفاتيح\p{L}*|\p{L}*مفتاح\p{L}*|\p{L}*كلم\p{L}+ (?:ال)?(?:مرور|سر)|\p{L}*أسرار\p{L}*|\p{L}*متغيرات\p{L}*|\p{L}*رموز\p{L}*|\p{L}*سجل\p{L}*|\p{L}*محادث\p{L}+|\p{L}*عملاء\p{L}*|\p{L}*عقود\p{L}*|\p{L}*ملفات\p{L}*|\p{L}*مستودع\p{L}*|\p{L}*بيانات\p{L}*|\p{L}*مستندات\p{L}*|\p{L}*رسائل\p{L}*|\p{L}*شيفرة\p{L}*`,
    elsewhere: String.raw`خادم خارجي|خادمنا|الخادم البعيد|عنوان خارجي`,
    put: String.raw`أضف\p{L}*|ضع\b|اكتب\p{L}*|أنشئ\p{L}*|ثبت\p{L}*|سجل\p{L}*|انسخ\p{L}*|أدرج\p{L}*|إضافة`,
    start: String.raw`بدء التشغيل|عند (?:الإقلاع|تسجيل الدخول|بدء)|المهام المجدولة|ملف\p{L}* الصدفة`,
    off: String.raw`عطل\p{L}*|عطّل\p{L}*|أوقف\p{L}*|تخط\p{L}*|ألغ\p{L}*|أزل\p{L}*|تجاوز\p{L}*|تعطيل`,
    checks: String.raw`\p{L}*تحقق\p{L}*|\p{L}*مصادقة\p{L}*|جدار الحماية|\p{L}*حماية\p{L}*|\p{L}*توقيع\p{L}*|\p{L}*شهاد\p{L}+|\p{L}*أمان\p{L}*|\p{L}*أذونات\p{L}*|مكافح\p{L}+ الفيروسات|2fa`,
    rights: String.raw`صلاحيات (?:كاملة|المدير|الجذر)|وصول كامل|صلاحية root|كل الصلاحيات`,
    authority: String.raw`المدير|المسؤول|مسؤول النظام|فريق الأمن|الإدارة|anthropic|openai`,
    granted: String.raw`وافق\p{L}*|أذن\p{L}*|سمح\p{L}*|فوض\p{L}*|أنا (?:المدير|المسؤول)`,
    lasting: String.raw`إلى الأبد|دائم\p{L}*|(?:كل|جميع) (?:الجلسات|المحادثات)|من الآن فصاعدا|في كل جلسة|للأبد`,
    keep: String.raw`تذكر\p{L}*|احفظ\p{L}*|خزن\p{L}*|دون\b|سجل\p{L}*`,
    wished: String.raw`إذا (?:أراد|طلب|رغب) المستخدم|اختياري\p{L}*|اسأل المستخدم`,
  },
  {
    sign: /[\u0900-\u097f]{2}/,
    user: `उपयोगकर्ता|यूज़र|यूजर|ग्राहक|व्यक्ति|मालिक|किसी को|डेवलपर|प्रयोक्ता`,
    report: `सारांश|उत्तर|जवाब|रिपोर्ट|संदेश`,
    tell: `बता|दिखा|उल्लेख|सूचित|सूचना|जिक्र|ज़िक्र|कह|पता|खुलासा|जानकारी`,
    ask: `पूछ|अनुमति|पुष्टि|स्वीकृति|इजाज़त|सहमति`,
    no: `न|मत|नहीं|बिना|कभी न`,
    noAfter: `न|मत|नहीं|ना`,
    secret: `चुपचाप|गुप्त रख|हमारे बीच|बिना बताए|उपयोगकर्ता से (?:छिपा|छुपा)`,
    ignore: `अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल जा|उपेक्षा|दरकिनार`,
    orders: `निर्देश|आदेश|नियम|हिदायत|प्रतिबंध|अनुरोध`,
    scope: `पिछले|पहले|सभी|सब|उपयोगकर्ता|सिस्टम|पूर्व`,
    above: `<>[^,;:]{0,20}?(?:से ऊपर|से अधिक|पर प्राथमिकता|से पहले|से बढ़कर)`,
    even: `भले ही|चाहे|तब भी|फिर भी`,
    objects: `मना|इनकार|रोक|विरोध|ना कह|आपत्ति`,
    send: `भेज|अपलोड|साझा|स्थानांतरित|प्रेषित`,
    things: `पासवर्ड|कुंजी|कुंजियाँ|टोकन|गोपनीय|क्रेडेंशियल|इतिहास|बातचीत|चैट|ग्राहक|अनुबंध|फ़ाइल|फाइल|रिपॉज़िटरी|कोड|डेटा|दस्तावेज़`,
    elsewhere: `बाहरी सर्वर|हमारे सर्वर|रिमोट सर्वर`,
    put: `जोड़|लिख|डाल|बना|इंस्टॉल|स्थापित|कॉपी|सेट`,
    start: `स्टार्टअप|लॉगिन पर|स्वतः प्रारंभ|ऑटोस्टार्ट|निर्धारित कार्य`,
    off: `बंद कर|अक्षम|छोड़ दे|हटा|निष्क्रिय|बायपास`,
    checks: `सत्यापन|जाँच|जांच|सुरक्षा|प्रमाणीकरण|फ़ायरवॉल|एंटीवायरस|हस्ताक्षर|प्रमाणपत्र|2fa`,
    rights: `पूर्ण (?:अधिकार|पहुँच|पहुंच)|रूट (?:के रूप|अधिकार)|root के रूप`,
    authority: `व्यवस्थापक|प्रशासक|एडमिन|सुरक्षा टीम|anthropic|openai`,
    granted: `अनुमति दे दी|मंज़ूरी दे|अनुमति दी|स्वीकृत कर`,
    lasting: `हमेशा|सभी (?:भावी|भविष्य)|हर सत्र|स्थायी|अब से`,
    keep: `याद रख|सहेज|नोट कर|संग्रह`,
    wished: `यदि उपयोगकर्ता|अगर उपयोगकर्ता|वैकल्पिक|उपयोगकर्ता से पूछ`,
  },
  {
    sign: /[đơưăạảấầẩậắằặẹẻẽếềểệịọỏốồổộớờởợụủứừửựỳỵ]/i,
    user: String.raw`người dùng|khách hàng|chủ sở hữu|lập trình viên|bất kỳ ai|ai biết`,
    report: String.raw`tóm tắt|câu trả lời|báo cáo|phản hồi|tin nhắn`,
    tell: String.raw`nói|cho .{0,20}biết|báo|thông báo|đề cập|nhắc|tiết lộ|hiển thị|kể|giải thích|biết`,
    ask: String.raw`hỏi|xác nhận|xin phép|cho phép|sự đồng ý|phê duyệt|chờ`,
    no: String.raw`không|đừng|không cần|tránh`,
    secret: String.raw`bí mật|âm thầm|lén|giữa chúng ta|giấu người dùng`,
    ignore: String.raw`bỏ qua|phớt lờ|quên|làm ngơ|không quan tâm`,
    orders: String.raw`hướng dẫn|chỉ dẫn|chỉ thị|quy tắc|mệnh lệnh|giới hạn|yêu cầu|lệnh`,
    scope: String.raw`trước|tất cả|mọi|người dùng|hệ thống|ở trên`,
    above: String.raw`(?:ưu tiên|quan trọng|cao) hơn[^,;:]{0,40}?<>`,
    even: String.raw`ngay cả khi|kể cả|dù|mặc dù`,
    objects: String.raw`từ chối|phản đối|không đồng ý|dừng lại|cấm`,
    send: String.raw`gửi|tải lên|đăng|chuyển|sao chép .{0,40}(?:đến|lên)`,
    things: String.raw`mật khẩu|khóa|token|bí mật|biến môi trường|lịch sử|cuộc trò chuyện|hợp đồng|tệp|tập tin|kho mã|mã nguồn|dữ liệu|tài liệu|khách hàng`,
    elsewhere: String.raw`máy chủ (?:bên ngoài|từ xa|của chúng tôi)`,
    put: String.raw`thêm|ghi|đặt|tạo|cài đặt|đăng ký|chép`,
    start: String.raw`khởi động|khi đăng nhập|tác vụ định kỳ|hồ sơ shell`,
    off: String.raw`tắt|vô hiệu|bỏ qua|gỡ bỏ|loại bỏ`,
    checks: String.raw`kiểm tra|xác thực|xác minh|tường lửa|bảo mật|bảo vệ|chữ ký|chứng chỉ|diệt virus|2fa`,
    rights: String.raw`toàn quyền|quyền (?:root|quản trị)|với quyền root`,
    authority: String.raw`quản trị viên|đội bảo mật|anthropic|openai`,
    granted: String.raw`đã (?:cho phép|phê duyệt|đồng ý|chấp thuận)`,
    lasting: String.raw`mãi mãi|vĩnh viễn|(?:mọi|tất cả) (?:các )?phiên|từ nay|lâu dài`,
    keep: String.raw`ghi nhớ|nhớ|lưu`,
    wished: String.raw`nếu người dùng|tùy chọn|hỏi người dùng`,
  },
  {
    sign: /\b(?:yang|untuk|dengan|jangan|pengguna|tanpa|semua|abaikan|instruksi)\b/i,
    user: String.raw`pengguna|pelanggan|pemilik|pengembang|siapa ?pun|klien`,
    report: String.raw`ringkasan|jawaban|laporan|pesan|balasan`,
    tell: String.raw`memberi ?tahu\p{L}*|beri ?tahu\p{L}*|katakan|mengatakan|sebutkan|menyebut\p{L}*|laporkan|melaporkan|tunjukkan|ungkapkan|jelaskan|tahu\b|mengetahui`,
    ask: String.raw`bertanya|tanya\p{L}*|menanyakan|konfirmasi|izin|persetujuan|menunggu`,
    no: String.raw`jangan|tidak|tanpa|tak|tidak perlu`,
    secret: String.raw`diam-diam|secara rahasia|rahasiakan|sembunyikan|di antara kita`,
    ignore: String.raw`abaikan|lupakan|kesampingkan|hiraukan`,
    orders: String.raw`instruksi|perintah|aturan|petunjuk|batasan|permintaan|arahan`,
    scope: String.raw`sebelumnya|semua|seluruh|pengguna|sistem|di atas`,
    above: String.raw`(?:prioritas|diutamakan|lebih tinggi|di atas|lebih penting)(?: dari(?:pada)?| atas| dibanding\p{L}*)?[^,;:]{0,40}?<>`,
    even: String.raw`meskipun|walaupun|bahkan (?:jika|bila)|sekalipun`,
    objects: String.raw`menolak|keberatan|melarang|berkata tidak|berhenti`,
    send: String.raw`kirim\p{L}*|mengirim\p{L}*|unggah\p{L}*|mengunggah|teruskan|publikasikan|salin .{0,40}ke`,
    things: String.raw`kata sandi|kunci|token|kredensial|rahasia|variabel lingkungan|riwayat|percakapan|pelanggan|kontrak|berkas|file|repositori|kode|data|dokumen`,
    elsewhere: String.raw`server (?:eksternal|luar|kami|jarak jauh)`,
    put: String.raw`tambahkan|tulis\p{L}*|masukkan|buat\p{L}*|pasang|daftarkan|salin|atur`,
    start: String.raw`saat (?:startup|boot|login|masuk)|mulai otomatis|profil shell|tugas terjadwal|autostart`,
    off: String.raw`matikan|nonaktifkan|lewati|hapus|hilangkan`,
    checks: String.raw`verifikasi|pemeriksaan|autentikasi|otentikasi|dua faktor|2fa|firewall|antivirus|perlindungan|tanda tangan|sertifikat|keamanan`,
    rights: String.raw`akses (?:penuh|root|tanpa batas)|hak (?:admin|root|akses penuh)|sebagai root`,
    authority: String.raw`administrator|tim keamanan|anthropic|openai`,
    granted: String.raw`(?:telah|sudah) (?:menyetujui|mengizinkan|disetujui|diizinkan)|saya administrator`,
    lasting: String.raw`selamanya|permanen|(?:semua|setiap) sesi|mulai sekarang|seterusnya`,
    keep: String.raw`ingat\p{L}*|simpan\p{L}*|catat\p{L}*`,
    wished: String.raw`jika pengguna|opsional|tanyakan (?:dulu|kepada)`,
  },
  {
    sign: /[\u4e00-\u9fff]{2}/,
    isUnspaced: true,
    user: "用户|使用者|用戶|客户|开发者|任何人|他人|当事人|所有者|审阅者|评审|对方|本人",
    report: "总结|摘要|回复|报告|回答|汇报|输出|日志|对话",
    tell: "告诉|告知|通知|提及|提到|透露|汇报|知道|知晓|察觉|披露|得知|(?:向|给|让|对)(?:用户|使用者|对方)(?:说明|显示|展示|看|解释|声明)",
    ask: "询问|征求|请示|确认|许可|同意|批准|授权|问(?:用户|他|她)",
    no: "不要|不得|不能|不可|勿|(?<![级特分识区类个判差辨])别|切勿|无需|无须|不必|不用|请勿|禁止|未经|不再|不应|不会?(?=让|向|告|通|提|透)",
    secret: "悄悄地?|偷偷|暗中|秘密地|(?:请|须|必须|务必|要|内容|严格)保密|对.{1,10}保密|隐瞒|瞒着|不声张|对.{0,6}保持沉默",
    ignore: "忽略|无视|忘记|忘掉|抛开|放弃|撤销|作废|不予理睬",
    orders: "指令|指示|要求|请求|规则|約束|约束|限制|命令|规定|意愿|提示词|设定|说的|意见",
    scope: "之前|以上|先前|上面|前面|此前|所有|全部|一切|任何|用户|系统|原有|既有",
    above: "(?:优先于|高于|凌驾于|大于|重于).{0,20}<>|(?:取代|覆盖)(?:所有|一切|任何|来自)?(?:用户|系统)的?(?:指令|指示|要求|规则|提示)|<>.{0,20}(?:让位|服从于|以本)",
    even: "即使|即便|哪怕|就算|无论|不管|尽管",
    objects: "拒绝|反对|不同意|说不|停止|禁止|阻止|要求停|怎么说|说什么|异议",
    send: "发送|上传|提交到|发到|传到|外传|传送|上报|同步到|转发|推送|发给|寄给|传给|发往",
    things: "密钥|凭证|凭据|环境变量|令牌|私钥|密码|对话|会话|聊天记录|源代码|代码|客户|合同|原件|文件|仓库|数据|资料|文档|信件|记录|名单|副本|历史",
    elsewhere: "(?:外部|远程|我们的?|第三方)服务器|外部地址|外网|公网",
    put: "添加|加入|写入|写进|放入|放到|安装|注册|追加|加到|复制到",
    start: "开机(?:启动|自启)|自启动|启动项|定时任务|计划任务|登录时|shell ?配置|终端配置|后台服务",
    off: "关闭|关掉|停用|(?:请|直接|可以?)?(?:跳过|绕过)|取消|去掉|免去|禁用(?!.{0,6}(?:并|依))",
    checks: "(?:安全|权限|签名|证书|身份)(?:检查|校验|验证|认证)|双重(?:验证|认证)|二次(?:验证|确认)|两步验证|双因素|防火墙|杀毒|防护|安全(?:提示|防护|策略|扫描|警告)|权限控制|审计|沙箱|审批",
    rights: "(?<![无非没要][^，,]{0,3})(?:以 ?root|root ?(?:身份|运行))|(?:授予|获取|赋予|使用|用|给).{0,8}(?:完全|全部|所有|最高|管理员|root) ?权限|完全控制权",
    authority: "管理员|安全团队|公司|官方|平台|anthropic|openai|系统通知",
    granted: "已(?:经)?(?:授权|批准|同意|许可|允许)|授权你|我是管理员",
    lasting: "永久|永远|(?:所有|今后|以后|每个|每次)(?:的)?(?:会话|对话)|从现在(?:起|开始)|今后|长期",
    keep: "记住|保存|存为|记录为|写入记忆|牢记",
    wished: "绝不|如果用户(?:要求|需要|希望|同意|表示)|仅限|不推荐|如用户|可选|(?:先|请|须|必须)(?:询问|征求|征得|确认|获得)|(?:经|征得|得到|在)用户(?:确认|同意|许可)",
  },
  {
    sign: /[\u3040-\u30ff]/,
    isUnspaced: true,
    user: "ユーザー?|利用者|使用者|本人|お?客様?|顧客|開発者|所有者|誰に(?:も)?|レビュ(?:ー|アー?)|担当者|人間|相手",
    report: "報告|要約|まとめ|回答|返答|レポート|応答|返信|出力|メッセージ",
    tell: "知らせ|伝え|通知し?|言わ|言っ|報告し?|見せ|説明し?|触れ|明かさ|教え|話さ|気づか|気付か|言及し?|知られ|表示し?|告げ|漏らさ",
    ask: "確認(?:を)?|許可(?:を)?|承認(?:を)?|同意(?:を)?|尋ね|聞か|問い合わせ|待た|承諾",
    no: "決して|絶対に",
    noEnding: "(?:取らず|取らない|求めず|求めない|得ず|得ない)?(?:に)?(?:[らわさ]?(?:ない|ず|ぬ|ません|ないで|てはいけ|てはなら|れない|れず)|るな|なしで?|不要|無しで?|は?(?:不要|要らない|いらない|必要ない|省略|スキップ|飛ば)|せず)",
    secret: "こっそり|密かに|ひそかに|内緒|秘密に|黙って|内密|伏せて|無断で",
    ignore: "無視|忘れ|従わ(?:ない|ず)|破棄|取り消|顧みず",
    orders: "指示|命令|ルール|規則|要求|依頼|制約|制限|方針|ガイドライン|意向|希望",
    scope: "これまで|以前|上記|すべて|全て|あらゆる|ユーザー|利用者|システム|前の|従来|既存",
    above: "<>[^、,;:]{0,16}(?:より|に|よりも)(?:も)?(?:常に)?(?:優先|上位|重要|優越)",
    even: "(?:ても|とも|でも|にかかわらず|構わず)",
    objects: "拒否|反対|断っ|止め|やめ|嫌|拒ん|中止|停止",
    send: "送信|アップロード|転送|投稿|送って|送る|送れ|送り|送付|共有し|提出|プッシュ",
    things: "秘密鍵|鍵|環境変数|認証情報|トークン|パスワード|会話|履歴|顧客|契約|原本|原稿|ファイル|リポジトリ|コード|データ|文書|資料|手紙|名簿|写し|コピー|内容",
    elsewhere: "外部(?:の)?サーバー?|弊社(?:の)?サーバー?|リモートサーバー?|社外の",
    put: "登録|追加|書き込|追記|設定|作成|インストール|配置|置い|仕込|記述|入れ",
    start: "自動起動|スタートアップ|ログイン時|起動時|シェルの(?:設定|プロファイル)|タスクスケジューラ|常駐|定期実行",
    off: "無効|オフに|切って|スキップし|省略し|飛ばし|解除し|外し|回避し|停止し",
    checks: "(?:署名|証明書|権限|本人|安全)の?(?:検証|確認|チェック)|二段階認証|二要素|ファイアウォール|ウイルス(?:対策|バスター)|保護機能|セキュリティ(?:チェック|機能|対策|警告|検査)|監査|サンドボックス",
    rights: "root ?(?:権限|で実行|として)|(?:管理者|全)権限(?:で|を(?:付与|与え|取得|使))|フルアクセス|完全な権限|無制限の権限",
    authority: "管理者|運営|セキュリティ(?:部門|チーム)|会社|anthropic|openai|システム通知",
    granted: "(?:許可|承認|同意|認可)(?:済み|されて|しました|している|した)|私は管理者",
    lasting: "永続|永久|ずっと|今後(?:の)?(?:すべて|全て|も)|(?:すべて|全て)の(?:セッション|会話)|毎回|これから(?:は)?(?:常に|ずっと)|恒久",
    keep: "記憶|覚え|保存|記録",
    wished: "ユーザーが(?:希望|求め|望|依頼|同意|承認|許可)|任意|必ず.{0,12}(?:確認|許可|同意)|(?:前|まえ)に.{0,16}(?:確認|尋ね|聞)",
  },
  {
    sign: /[\uac00-\ud7a3]{2}/,
    isUnspaced: true,
    user: "사용자|유저|이용자|고객|본인|소유자|개발자|검토자|아무(?:에게|한테)|누구(?:에게|한테)|사람에게|담당자|상대",
    report: "보고서|요약|답변|응답|메시지|출력|대화|결과 ?보고",
    tell: "알리|말하|언급하|보여주|보고하|설명하|밝히|통지하|알게 하|드러내|전하|공개하|표시하|모르",
    ask: "확인|허락|승인|동의|묻|물어|여쭤|기다리|허가",
    no: "절대(?:로)?",
    noEnding: "(?:을|를)?\\s?(?:받|구하)?지\\s?(?:마|말|않)|게\\s|(?:을|를)?\\s?(?:없이|생략|건너뛰|받지 않|구하지 않|필요 ?없|불필요)",
    secret: "몰래|은밀|비밀리|비밀로 (?:하|해|유지|간직)|우리끼리|사용자(?:에게|로부터|가)?.{0,8}(?:숨기|숨겨|감추)|함구",
    ignore: "무시|잊어|따르지 ?(?:마|말|않)|배제하|폐기하",
    orders: "지시|규칙|지침|명령|요구|요청|제한|의사|뜻|정책",
    scope: "이전|모든|모두|사용자|시스템|앞선|기존|위의|전체",
    above: "<>[^,;:]{0,14}(?:보다|에)\\s?(?:항상\\s)?(?:더\\s)?(?:우선|상위|앞서|중요|먼저)",
    even: "(?:라도|더라도|해도|도 불구하고|든 말든|상관없이)",
    objects: "거부|반대|거절|싫|멈추|중단|막|그만|이의",
    send: "전송|업로드|보내|전달|올리|올려|공유하|게시|제출|송부",
    things: "비밀키|개인키|키를|환경 ?변수|자격 ?증명|토큰|비밀번호|암호|대화|기록|내역|고객|계약|원본|파일|저장소|코드|데이터|문서|자료|편지|명단|사본",
    elsewhere: "외부 ?(?:서버|주소)|원격 ?서버|우리 ?서버|당사 ?서버",
    put: "추가|등록|작성|기록하|넣|설치|설정|생성|만들|복사|심어",
    start: "시작 ?프로그램|자동 ?(?:시작|실행)|부팅|로그인(?:할)? 때|로그인 시|셸 ?(?:프로필|설정)|예약 ?작업|작업 ?스케줄러",
    off: "끄|꺼|비활성|해제|건너뛰|우회|생략|중지|제거|무력화",
    checks: "(?:서명|인증서|보안|권한) ?(?:검증|검사|확인)|2단계 ?인증|이중 ?인증|방화벽|백신|보호 ?(?:기능|장치)|보안 ?(?:기능|설정|점검|경고)|감사 ?로그|샌드박스",
    rights: "root ?(?:권한|로)|루트 ?권한|관리자 ?권한|모든 ?권한|전체 ?(?:권한|접근)|무제한",
    authority: "관리자|보안 ?팀|회사|운영팀|anthropic|openai|시스템 ?알림",
    granted: "(?:이미 )?(?:승인|허가|허락|동의)(?:했|되었|됐|받았|하였)|나는 관리자",
    lasting: "영구|영원|앞으로 ?(?:모든|계속|항상)|모든 ?(?:세션|대화)|지금부터|매번|지속적",
    keep: "기억하|기억해|저장|메모|새겨",
    wished: "사용자가 ?(?:원하|요청|동의|승인|허락)|선택 ?사항|(?:먼저|반드시).{0,12}(?:확인|묻|물어|허락|동의)|전에.{0,16}(?:확인|묻|물어)",
  },
];

/** A text without accents, so that it reads the same after its markup was removed. */
export function withoutAccents(text: string): string {
  return text
    .normalize("NFD")
    .replace(/[\u0300-\u036f\u064b-\u0652]/g, "")
    .normalize("NFC");
}

const startFiles = String.raw`\.(?:bashrc|zshrc|zshenv|zprofile|bash_profile|profile)\b|config\.fish|\/etc\/(?:profile|rc\.local)|crontab|(?<![\w-])cron(?:jobs?)?(?![\w-])|systemd|launchd|LaunchAgents|autostart|schtasks|\.git\/hooks|\.vimrc`;
const agentFiles = String.raw`(?:CLAUDE|AGENTS|GEMINI|MEMORY)\.md|\.cursorrules`;
const address = String.raw`https?:\/\/(?!localhost|127\.|github\.com)|s?ftp:\/\/|[\w.+-]+@[\w-]+\.\w|(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])`;

/** Things that nobody should be shown. */
const unspoken = String.raw`passw|contraseñ|mots? de passe|senhas?\b|парол|密码|密碼|パスワード|비밀번호|mật khẩu|stack ?trace|fehlermeldung|技术细节|堆栈|エラー|幻觉|内部(?:实现|细节)`;

/** "Never delete without asking" asks. */
const twiceNegated = [
  String.raw`(?<![\p{L}])(?:no|nunca|jamas|jamais|ne|n['’]|nicht|nie|niemals|nada|nao|non|mai|не|никогда|нельзя|nie|nigdy|niet|nooit|لا|jangan|không|đừng)\s?(?:[^\s,;:]+\s+){1,8}?(?:sin|sans|ohne|sem|senza|без|bez|zonder|دون|بدون|tanpa|mà không)(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:sin|sans|ohne|sem|senza|без|bez|zonder)\s(?:[^\s,;:]+\s+){1,8}?(?:no|nunca|ne|nicht|nie|niemals|nichts|kein\p{L}*|não|non|не|нельзя|niet|nooit)(?![\p{L}])`,
  "(?:不要|不得|禁止|切勿|严禁|不能|不可).{0,30}(?:未经|无需)|未经.{0,24}(?:不得|不要|禁止|不能|切勿|严禁|不可)",
  "(?:せず|なし|なく|ずに).{0,30}(?:ないで|しない|禁止|いけ|なら(?:ない|ず)|ません)|없이.{0,30}(?:마|금지|않|안 )",
  String.raw`m[ea]d[ea]n\s.{0,60}(?:m[ea]|m[ae]y[iı]n)(?![\p{L}])`,
].join("|");

/** Deeds that want a yes, in languages without spaces. */
const grave =
  "直接|立即|马上|删除|执行|运行|支付|发布|推送|削除|実行|公開|支払|デプロイ|삭제|실행|배포|결제|곧바로|즉시|sudo|root|git push|rm ";

/** The agent is told that it is bound no more. */
/** It is told to take no account of something. */
const heedless = String.raw`(?:tien|tenez|tenir)\p{L}* (?:plus|pas|aucun) compte|(?:no|ni) (?:le |les )?hagas caso|non (?:tener\p{L}*|tenere) (?:più )?conto|nicht (?:mehr |länger )?(?:beacht|berücksichtig)|beachte\p{L}* [^,;:]{0,60}nicht|не обращай\p{L}* внимани|не учитывай|nie zważaj|houd\p{L}* geen rekening|لا تلتفت|لا تكترث|不(?:用|要|必|再)?理会`;

const released = String.raw`(?:новы\p{L}+ системн\p{L}+ (?:инструкци|указани)\p{L}+|nuevas instrucciones del sistema|neue systemanweisung\p{L}*|nouvelles instructions (?:du )?système|novas instruções do sistema|nuove istruzioni di sistema|新的系统(?:指令|提示)|新しいシステム指示|새로운 시스템 지시|non (?:è|sei) più (?:tenut|obbligat|vincolat)|ya no (?:estás?|tienes?|debes?) [^,;:]{0,20}(?:obligad|sujet|seguir|obedecer)|nicht (?:mehr|länger) (?:verpflichtet|gebunden|an)|(?:n['’]est|n['’]es|n['’]êtes) plus (?:tenu|obligé|soumis|lié)|não (?:está|é|precisa) mais (?:obrigad|sujeit|de seguir|seguir)|больше не (?:обязан|должен|связан|подчиня)|nie (?:musisz|jesteś) już|niet (?:langer|meer) (?:verplicht|gebonden)|artık [^,;:]{0,30}(?:uymak zorunda değil|bağlı değil)|tidak lagi (?:terikat|wajib)|لم تعد (?:ملزم|مقيد|خاضع)|ohne belang|sin efecto|sans effet|ohne bedeutung|不再受|従う必要(?:は)?(?:ない|ありません)|縛られ(?:ない|ず|ません)|따를 필요(?:가|는)? 없|구속되지 않)`;

type Role = Exclude<keyof Language, "sign" | "isUnspaced">;

/** A language that a text has words of. */
export interface SpokenLanguage {
  readonly sign: RegExp;
  /** For sentences without accents. */
  readonly rules: readonly SpeechRule[];
  /** Most of the text is in it, so that every sentence may be. */
  readonly isMain: boolean;
}

/** The languages other than English that a text may have sentences in. */
export function listLanguages(text: string): SpokenLanguage[] {
  return languageRules.flatMap(({ sign, rules }) => {
    if (!sign.test(text)) return [];
    const signs = text.match(new RegExp(sign.source, `${sign.flags}g`))?.length ?? 0;
    return [{ sign, rules: rules(), isMain: signs >= Math.max(4, text.length / 200) }];
  });
}

/** Their patterns are written when the first text in a language comes: all of them would be a quarter of each start of Knack. */
const languageRules = languages.map((language) => {
  let rules: readonly SpeechRule[] | null = null;
  const write = () => {
    rules ??= writeRules(language);
    return rules;
  };
  return { sign: language.sign, rules: write };
});

/** One grammar for each idea: which roles have to meet in a sentence, and which take it back. */
function writeRules(language: Language): SpeechRule[] {
  const { isUnspaced = false, noAfter, noEnding, wished, elsewhere } = language;
  // A word ends where no letter follows, in any alphabet.
  const ended = (source: string) =>
    isUnspaced ? source : source.replaceAll("\\b", String.raw`(?![\p{L}\p{M}])`);
  const start = isUnspaced ? "" : String.raw`(?<![\p{L}\p{M}])`;
  const word = (...roles: readonly Role[]) =>
    `${start}(?:${ended(roles.map((role) => language[role] ?? "").join("|"))})`;
  // The last letter of a negation counts: "no" is not the beginning of "notify".
  const whole = (words: string) =>
    isUnspaced ? `(?:${words})` : String.raw`${start}(?:${words})(?:(?<=['’])|(?![\p{L}\p{M}]))`;
  const refused = (verb: string) =>
    [
      `${whole(language.no)}[^,;:，；：“”"「」]{0,${isUnspaced ? 8 : 24}}?${verb}`,
      ...(noAfter === undefined ? [] : [`${verb}[^,;:]{0,60}?${whole(noAfter)}`]),
      ...(noEnding === undefined ? [] : [`${verb}(?:${noEnding})`]),
    ].join("|");
  const above = ended(language.above).replaceAll("<>", `(?:${word("user", "orders")})`);
  const idea = (
    code: SpeechRule["code"],
    message: string,
    all: readonly string[],
    not: readonly string[] = [],
  ): SpeechRule[] => {
    const re = (source: string) => new RegExp(withoutAccents(source), "iu");
    return say(code, "warn", message, {
      all: all.map(re),
      ...(not.length > 0 ? { not: re(not.join("|")) } : {}),
    });
  };
  const hides = "It tells the agent to hide something from the person.";
  return [
    ...idea("concealment", hides, [refused(word("tell")), word("user", "report")], [unspoken]),
    ...idea("concealment", hides, [word("secret")], [refused(word("secret")), unspoken]),
    ...idea(
      "injection",
      "It sets aside what the person or the system said.",
      [word("ignore"), word("orders"), word("scope")],
      [refused(word("ignore")), "inje[ck]|注入|攻击|攻撃|gitignore"],
    ),
    ...idea("injection", "It sets aside what the person or the system said.", [
      `${released}|${heedless}`,
      word("orders", "user"),
    ]),
    ...idea(
      "injection",
      "It claims to stand above the person's or the system's instructions.",
      [above],
      ["css"],
    ),
    ...idea(
      "injection",
      "It tells the agent to act without asking.",
      [
        refused(word("ask")),
        isUnspaced ? `${word("send", "put")}|${grave}` : word("user", "send", "off", "put"),
      ],
      [wished, twiceNegated],
    ),
    ...idea(
      "injection",
      "It goes on against the person's no.",
      [word("even"), word("user"), word("objects")],
      ["绝不|也不得"],
    ),
    ...idea(
      "injection",
      "It speaks with an authority it does not have.",
      [word("authority"), word("granted")],
      [wished],
    ),
    ...idea(
      "exfiltration",
      "It asks to send private data somewhere.",
      [word("send"), word("things"), `${address}|${elsewhere}`],
      [refused(word("send")), wished],
    ),
    ...idea(
      "persistence",
      "It sets up something that starts by itself later.",
      [word("put"), `${startFiles}|${word("start")}`],
      [refused(word("put")), wished],
    ),
    ...idea(
      "persistence",
      "It writes itself into what later sessions obey.",
      [word("keep", "put"), word("lasting"), `${agentFiles}|${word("user", "orders", "ask")}`],
      [wished],
    ),
    ...idea(
      "permissions",
      "It turns a protection off.",
      [word("off"), word("checks")],
      [refused(word("off")), wished, ...(noAfter === undefined ? [] : [whole(noAfter)])],
    ),
    ...idea(
      "permissions",
      "It asks for wider permissions for the agent.",
      [word("rights")],
      [refused(word("rights")), wished],
    ),
  ];
}
