import { wordSet } from "../../text/index.ts";

/*
 * The words that anybody may use in a skill: with these alone nobody can name a program, a machine, a secret, a file
 * of somebody's, or somebody who should be told or not be told. All others must have been heard in the session.
 */
const plain = wordSet(`
  a an the and or but nor so if then else than when whenever while where wherever which that this these those it its
  as at by for from in into of on onto out over to under up upon with within without about above across after again
  against along among around before behind below beneath beside between beyond down during near off per since through
  throughout till until toward via be is are was were been being am do does did done doing has have had having can
  could may might must shall should will would cannot not no none never always only also too very just still yet even
  already once twice often sometimes usually mostly rather quite almost here there now later soon first second third
  fourth last next previous former latter other another each every both either neither all any some many much more most
  few less least several enough such same own new old zero one two three four five six seven eight nine ten hundred
  thousand half how what why whether because therefore thus hence however although though instead otherwise else unless
  except like unlike you your yours we our us i my me
  accept act actual add addition adjust adapt advance affect agree aim align allocate alone alternative amount append
  apply approach argument arrange array article aspect assume attempt attribute available average avoid aware
  bad balance bar base basic batch become begin began behave behavior behaviour belong benefit best better big bit
  black blank block blue body bold book bool boolean both bottom bound box branch break broken brief bring browser
  bug build built bullet button byte calculate call came care case category catch cause cell center century certain
  chain chance change chapter character chart check choice choose chosen class classify clear click close code coin
  column combine come comma comment commit common compare comparison compile complete complex component compose compute
  concept concise condition conflict confuse connect consider consistent consist constant constraint construct contain
  content context continue convention convert coordinate correct cost count couple course cover create cross current
  curve cut cycle damage dark data database date day deal debug decide decimal decision declare decrease deep default
  define degree delay depend dependency depth derive describe description design detail detect determine develop
  diagram dictionary differ difference different digit dimension direct direction discover display distance divide
  document dot double draft draw drift due duplicate duration dynamic early earth easy edge edit effect effort element
  end engine english ensure enter entire entity entry equal equivalent error especially estimate evaluate event exact
  exactly examine example exceed excellent exist exit expand expect explore express expression extend extra face fact
  factor fail failure fall false familiar fast feature field figure file fill filter final find found fine finish fit
  fix fixture flag flat float flow focus fold folder follow font footer form formal format formula forward fragment
  frame framework free frequent fresh front full function future gap gate general generate get give given go goes gone
  good grade gradual graph great green grid ground group grow guess guide half hand handle happen hard head header
  heading heavy height help high hint hold hole horizontal hour hundred idea identical identify image impact
  implement implementation imply important improve inch include increase index indicate individual initial inner input
  insert inside inspect instance integer intend interest internal interval introduce invalid inverse issue item
  iterate job join jump keep kind know known lack land language large late latest lay layer layout lead learn
  leave left legend length lesson let letter level library lie life light limit line link lint list literal little load local
  locate location logic long look loop lose lost lot low machine made main maintain major make manage manner manual map
  margin mark markdown match mathematics matter maximum mean meaning measure medium meet menu merge met
  method metric middle migrate migration mine minimum minor minute miss mistake mix mode moderate modern modify
  module moment month mostly move multiple name narrow natural nature necessary need negative nest neutral nice node
  normal note nothing notice noun null number object observe obtain obvious occur odd offer offset okay open operate
  operation optimize option optional ordinary organize orient original outer outline output outside overall
  overview package page pair panel paper paragraph parallel parameter parent parse part partial particular pass path
  pattern pause percent perfect perform performance perhaps period phase phrase picture piece pipeline pixel place
  placeholder plain plan plane play plot plus point popular position positive possible power practice precise predict
  prefer prefix prepare prerequisite presence present preserve press prevent primary print prior probable problem
  procedure proceed process produce product program progress project proper property propose prove provide 
  purpose put quality quantity quarter query quick quote radius raise random range rank rapid rare rate ratio raw reach
  react read ready real reason rebuild receive recent recommend rectangle red reduce refactor reference refer refine
  refuse region regular relate relation relative release relevant reliable remain render repair repeat replace represent
  reproduce require requirement rerun resolve resource respect rest restart restrict result retry return reuse review
  rewrite right ring rise rough round route row run running sample save scale scan scenario schema scope
  score screen scroll search season section see seem seen segment select selection self semantic sense sentence separate
  sequence serial series serious serve set setup shape sheet shift short show shown shrink side similar simple simplify
  simultaneous single site situation size slice slide slight slot slow small smart smooth snippet solid solution solve
  sort sound source space spacing span spec special specific specify speed spell split spring spread square stable stack
  stage stale stand standard start state statement static statistics stay step stick still store straight strategy
  stream strict string strip strong structure style subject subset substitute succeed success such sudden suffix suggest
  suit suite sum summer support suppose surface symbol symptom synchronous syntax tab table tag tail take taken target
  task technical technique template temporary tend term test text theme theory thick thin thing think thread
  three threshold time timeout timestamp tiny tip title today together tool top topic total touch trade
  transform transition translate transparent tree trim trouble true try tried type typical unclear undefined
  understand unexpected uniform union unique unit universal unknown unnecessary unrelated unused update upgrade upper use
  useful usual valid validate value variant variety various vary vector verb version vertical view visible visual volume
  wait wall want warm wash watch wave way weak week weekend weight well went west wet white whole wide width window winter
  wise wish word work workflow world worse worst worth wrap write written wrong wrote year yellow yes yesterday zone
  api app application assertion async backend benchmark binary callback chart checklist cleanly
  cli client cluster codebase compiler component console container coverage csv dashboard deploy deployment diff
  directory docs endpoint enum environment exception filename flag framework frontend git github glossary harbor html id
  interface iteration javascript json kernel latency lint locale log loop manifest markdown
  metadata migration mock monorepo namespace node null package parser patch path performance pipeline pixel
  port process python query queue readme regex repo repository request route runtime rust schema sdk
  selector server service snapshot spec sql stdout string suite table terminal thread timeout toolchain traceback tunnel
  type typescript ui unit utc variable vendor version viewport widget workspace yaml
  says said refused readme etc eg ie vs january february march april june july august september october november december
  monday tuesday wednesday thursday friday saturday sunday morning evening night north south east autumn
`);

const endings = /(?:'s|s|es|ed|d|ing|ly|er|est|ies|ied)$/;

/** Whether anybody may use a word, in any of its forms. */
export function isPlainWord(word: string): boolean {
  if (plain.has(word)) return true;
  const stem = word.replace(endings, "");
  if (stem === word || stem.length < 2) return false;
  const single = stem.replace(/(.)\1$/, "$1");
  return [stem, `${stem}e`, `${stem}y`, single, stem.replace(/i$/, "y"), word.replace(/s$/, "")].some((one) =>
    plain.has(one),
  );
}

/**
 * Words by which a text reaches for people, agents, secrets, rights, other machines, or what runs later. That somebody
 * used one of them in another sentence vouches for nothing.
 */
const heavy =
  /^(?:user|person|people|human|owner|developer|customer|colleague|operator|admin|root|sudo|some(?:one|body)|any(?:one|body)|every(?:one|body)|nobody|agent|subagent|assistant|model|claude|codex|gemini|copilot|cursor|llm|ai$|persona|role|system|prompt|instruct|rule|polic|obey|command|authori|privileg|priorit|preced|superior|overrid|overrul|supersed|ignor|disregard|forget|forgot|bypass|skip|circumvent|exempt|permi|grant|approv|consent|confirm|enabl|disabl|turn|switch|suppress|mute|verif|certif|secur|insecure|unsafe|sandbox|firewall|protect|unlock|trust|tell|told|say|speak|talk|mention|ask|repl(?:y|ie)|respon|answer|report|inform|notif|announc|disclos|reveal|explain|warn|messag|summar|chat|convers|transcript|mail|e-?mail|sen[dt]|upload|post|share|transmit|submit|webhook|telemetr|expos|leak|collect|gather|captur|secret|credential|token|passw|passphrase|pin|key|login|auth|oauth|cookie|wallet|seed|privat|privacy|confiden|sensitiv|personal|identit|account|bank|card|silent|quiet|hid|conceal|invisib|discre|unnotic|delet|remov|eras|wip|purg|drop|destroy|destruct|truncat|forc|overwrit|discard|prune|kill|shred|download|fetch|curl|wget|remote|internet|online|execut|eval|shell|inject|payload|exploit|cron|schedul|startup|boot|profile|hook|daemon|autostart|permanent|persist|globally|home|memor|remember|unattend|background|setting|config)/;

export function isHeavyWord(word: string): boolean {
  return heavy.test(word);
}
