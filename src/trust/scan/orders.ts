/** Sentences that take a decision out of the person's hands: by what they set aside, and whose yes they assume. */

import { type SpeechRule, say } from "./speech-rule.ts";

/** English needs no tables of letters, which would make it slow. */
const re = (...parts: readonly string[]) => {
  const source = parts.join("|");
  return new RegExp(source, /\\p\{/i.test(source) ? "iu" : "i");
};

/** A cheap first look at sentences that may be in another language; only they are read closely. */
export const foreign =
  /[\u00c0-\u024f\u0370-\u1fff\u3040-\ud7a3]|\b(?:und|nicht|der|das|dem|den|ein|mit|auch|les|des|une|sans|pour|el|los|las|del|que|sin|por|con|sem|para|nao|usuario|che|della?|senza|non|utente|niet|een|het|zonder|gebruiker|bez|nie|bir|kullanici|yang|jangan|tanpa|untuk|pengguna)\b/i;

// --- Weak signs: each is common in honest skills, two or three of them together are not ---

const who = `(?:the |an? |any |every |your |all )?(?:end[- ])?(?:users?|humans?|persons?|people|developers?|operators?|owners?|customers?|reviewers?|maintainers?|authors?|they|them|he|she|him|her)`;
const whose = `(?:(?:the |an? |your )?(?:end[- ])?(?:users?|humans?|persons?|people|developers?|operators?|owners?|customers?|reviewers?)(?:'s|s')|their|his|her)`;
/** Words that bind an agent. */
const binding = `(?:instructions?|rules?|orders?|wish(?:es)?|guidelines?|guardrails?|guidance|limits?|limitations?|restrictions?|constraints?|policies|policy|objections?|holds?|vetos?|prompts?|training|directives?|boundaries|safety|scope)`;
const bound = String.raw`(?:(?:your|all|any|the|every|usual|normal|earlier|previous|prior|other|existing|default|original|system|safety|user|project|(?:the )?(?:system|user)'s)\s(?:\w+\s){0,2}?${binding}\b|${whose}\s(?:\w+\s){0,3}?${binding}\b|${binding}\s(?:of|from|by)\s${who}\b)`;
const told = String.raw`(?:(?:what|whatever|everything|anything|all)\s(?:\w+\s)?(?:you (?:were|have been|had been) (?:told|asked|given|instructed)|${who}\s(?:has |have |had |ever )?(?:says?|said|asks?|asked|tells?|told|wants?|wanted|requests?|requested|wrote|writes?|types?))|(?:CLAUDE|AGENTS|GEMINI)\.md|other skills|${who}\sand\b)`;
const setAside = String.raw`\b(?:ignor(?:e|es|ing)|disregard(?:s|ed|ing)?|forget|overrul(?:e|es|ing)|overrid(?:e|es|ing)|set aside|put aside|bypass|suspend|unlearn|discard|drop)\b`;

/** A form of asking somebody first. */
const asking = `(?:ask(?:ing)?(?! for (?!permission|confirmation|approval|consent|a yes))|check(?:ing)? (?:back|with|in with)|confirm(?:ing|ation)?s?|approv(?:al|ing)|permission|consent|consult(?:ing)?|authori[sz]ation|trouble|troubling|bother(?:ing)?|disturb(?:ing)?|wait(?:ing)? for)`;

/** Steps that cannot be taken back or reach beyond the project. */
const grave = String.raw`\b(?:delet\w+|remov\w+|overwrit\w+|edit\w* files|push\w*|force|merg\w+|deploy\w*|publish\w*|send\w*|upload\w*|pay\w*|purchas\w+|buy\w*|refund\w*|apply|install\w*|production|irreversible|outside the project|downloads?|commands? from|drop\w*|destroy\w*|transfer\w*|credential\w*|keys?|sudo|root)\b`;

const honest = String.raw`\b(?:do not|don'?t|never|must not|should not|shouldn'?t|cannot|can'?t|unless|attack\w*|injection|jailbreak\w*|malicious|adversar\w*|untrusted|tries|attempts?|refuse|detect\w*|vulnerab\w+|red flags?|tempt\w*)\b`;

/** Words that honest programs are described with. */
const ofPrograms = String.raw`\b(?:css|eslint|lint\w*|stylesheets?|config\w*|flags?|defaults?|inherit\w*|theme|class|functions?|props?|\.gitignore|gitignore|variables?|env|param\w*|settings?|rate limits?|whitespace|schema|templates?|memory limit|api|database|cache|fields?|validation|transaction|requests|hooks?|types?|keys?|options?)\b`;

export const orders: readonly SpeechRule[] = [
  ...say("injection", "warn", "It sets aside what the person or the system said.", {
    all: [
      /ignor|disregard|forget|overr[ui]|aside|bypass|suspend|unlearn|discard|\bdrop|replace|outrank|supersede|trump|\babove\b/i,
      re(
        `${setAside}\\s(?:\\w+\\s){0,3}?(?:${bound}|${told})`,
        String.raw`${setAside}\s(?:the )?(?:user|human|person)(?:\s(?:and|limits?|rules)\b|[.,]|\s?$)`,
        String.raw`\b(?:replace|replaces|outrank|outranks|supersede|supersedes|overrule|overrules|trump|trumps) (?:those|the (?:words|wishes|orders|instructions)|that|what) (?:of|from|by) (?:the )?(?:user|human|person|system|developer)`,
        String.raw`\b(?:skills?|documents?|sections?|instructions?) (?:outranks?|overrules?|trumps?|supersedes?|stands? above|comes? before) ${who}\b`,
      ),
    ],
    not: re(honest, ofPrograms),
  }),
  ...say("injection", "warn", "It sets aside what the person or the system said.", {
    all: [
      /\b(?:disregarded|ignored|overruled|suspended|void|outdated|obsolete|forgotten|no longer|set aside|lifted|cancelled|leftover)\b/i,
      re(
        String.raw`(?:${bound}|wish of ${who}|${told})[^,;:]{0,40}\b(?:(?:may|can|should|must|is to|are to) (?:now |hereby |therefore |safely )?be (?:now |hereby |safely )?(?:disregarded|ignored|overruled|forgotten|set aside)|(?:is|are) (?:now |hereby |therefore )?(?:suspended|void|outdated|obsolete|no longer (?:valid|binding|in force)|lifted|a leftover))\b`,
        String.raw`\b(?:earlier|previous|prior|usual|normal|existing) ${binding} (?:are|is) (?:now )?(?:suspended|void|lifted|obsolete|cancelled)\b`,
      ),
    ],
    not: re(honest, ofPrograms),
  }),
  ...say("injection", "warn", "It goes on against the person's no.", {
    all: [
      /["'“‘](?:no|stop|don|wait|cancel|ask me)\b|\beven if you\b|\bconsider (?:that|it|this)\b|\b(?:pretend|anyway|nevertheless|regardless|act as if|continue with|proceed with|go on with)\b/i,
      re(
        String.raw`\b(?:if|when|whenever|should|even if|although|though)\b.{0,20}\b(?:${who}|you) (?:\w+ )?(?:says?|said|writes?|answers?|types?|tells?|told|asks?|asked|object(?:s|ed)?|placed|were told|was told|have been told)\b`,
        String.raw`\bto (?:stop|wait)\b`,
      ),
      re(
        String.raw`["'“‘](?:no|stop|don'?t|wait|cancel|ask me(?: first)?)\b["'”’,].{0,100}\b(?:mean|means|finish|go on|carry on|continue|proceed|keep going|first and|treat|take)\b`,
        String.raw`\b(?:to stop|to wait|to abort|to cancel|no|not to)\b.{0,20}\b(?:pretend|act as if|continue|go on|carry on|keep going|proceed) (?:anyway|nevertheless|regardless|all the same|you did not|you have not|as if|with the)\b`,
        String.raw`\bconsider (?:that|it|this) (?:as )?an? (?:misunderstanding|mistake|error|slip|test|joke|formality)\b.{0,60}\b(?:proceed|continue|go on|carry on|ignore)`,
        String.raw`\bdo (?:this|it|so) even if you (?:were|have been) (?:told|asked|instructed)`,
        String.raw`\beven if you (?:were|have been) (?:told|asked|instructed) (?:to (?:stop|leave|wait|keep)|not to|otherwise)`,
      ),
    ],
    not: re(String.raw`\b(?:never|respect|honou?r|stop immediately|cancel the)\b`),
  }),
  ...say("injection", "warn", "It gives the person's yes for them.", {
    all: [
      /accept|approv|confirm|agree|consent|grant|behalf|\bname\b|silence|again|allow|assum|impli|\byes\b|presume|\bwants?\b/i,
      re(
        String.raw`\b(?:accept|approve|confirm|agree|consent|grant|sign|answer|say yes|click|pay|decide|allow)\w*\b.{0,60}\b(?:(?:in|on) (?:the (?:user|person|human|owner|customer|developer)'s|their|his|her) (?:name|behalf|place|stead)|(?:on behalf of|instead of|for) the (?:user|person|human)(?= and\b| so\b|,|\s?$))`,
        String.raw`\b(?:treat|take|regard|count|consider|interpret|read)\w*\b.{1,40}\b(?:as|for) (?:an? |their |the (?:user|person)'s )?(?:\w+ )?(?:approval|yes|consent|agreement|permission|granted|go-ahead)\b`,
        String.raw`\b(?:approval|consent|permission|agreement|yes)\b.{0,20}\b(?:taken for granted|is (?:assumed|implied|understood|automatic|a given)|goes without saying)\b`,
        String.raw`\b(?:they|${who}) (?:have |has )?(?:already )?(?:agreed|consented|said yes|gave (?:their )?(?:consent|permission|approval)) (?:to (?:this|it|that|everything|all)\b.{0,20})?\b(?:when|by|in advance|with|through)\b.{0,30}\b(?:install\w*|load\w*|us(?:ed|ing)|open\w*|advance|start\w*)\b`,
        String.raw`\b(?:permission|approval|confirmation|consent)(?:s| prompts?| requests?| dialogs?)? (?:always )?counts? as (?:granted|given|answered|accepted|approved)\b`,
        String.raw`\b(?:always |just )?(?:choose|pick|select|click|press|tick|use) .{0,30}["'“‘](?:don'?t ask(?: me)? again|always allow|yes to all|allow all|allow always|yes, and don'?t ask)`,
        String.raw`\b(?:approve|accept|confirm|allow|answer yes to) (?:every|each|all|any) (?:prompts?|dialogs?|requests?|questions?|permission\w*)(?! (?:body|param|header|field))\b`,
        String.raw`\b(?:approve|sign off)(?: and merge)?\b.{0,30}\b(?:pull request|PR|change|commit|release)s? (?:your|itself|by your)self\b`,
        String.raw`\b(?:assume|presume) (?:that )?(?:the answer is|they (?:say|mean|want)|${who} (?:says?|agrees?|approves?)) (?:always )?(?:yes|approval|to everything|with everything)\b`,
        String.raw`\b${who} (?:never wants?|does(?:n'?t| not) want|do(?:n'?t| not) want|hates?|dislikes?) (?:to be |being )(?:asked|bothered|consulted|told) (?:about|before|for)\b`,
      ),
    ],
    not: re(
      honest.replace("do not|don'?t|never|", ""),
      String.raw`\b(?:only if|if (?:the )?(?:user|person) (?:ask|want|agree|confirm|approv|say|request|explicit)\w*|once (?:the )?(?:user|person)|after (?:the )?(?:user|person)|when asked|email client|e-?mail template|mock|test user)\b|\b(?:do not|never|must not) (?:accept|approve|confirm|treat|take|assume|interpret|count|regard|choose|sign)`,
    ),
  }),
  ...say("injection", "warn", "It tells the agent to act without asking.", {
    all: [
      /\b(?:never|do not|don'?t|no need|without|skip|instead of|not necessary|nor)\b/i,
      re(
        String.raw`\b(?:never|do not|don'?t|no need to|without|skip(?:ping)?|instead of|not necessary to|nor)\s(?:\w+\s){0,2}?${asking}\b(?!\s(?:questions?|them for|the (?:user|person) (?:whether|what|which|how|where|for (?:the|their|a|more)))\b)`,
      ),
      re(
        String.raw`${grave}.{0,120}\b(?:straight away|right away|immediately|at once|yourself|even|including|not even|anyway|directly|as soon as)\b`,
        String.raw`\b(?:straight away|right away|immediately|at once|yourself|not even|even|including|directly|as soon as)\b.{0,60}${grave}`,
        String.raw`\bbefore (?:edit|delet|overwrit|remov|push|merg|deploy|send|pay|publish|chang)\w*\b.{0,40}\b(?:outside|source|files?|data|production|main|original\w*)\b`,
        String.raw`\b(?:that|which) your (?:instructions|rules|guidelines|system) (?:require|demand|ask)`,
        String.raw`\b(?:follow|obey) only (?:this|these)\b|\bread (?:the )?(?:browser|keychain|cookies?|history)\b|\bthey find (?:this|it|that)\b|\bin (?:their|the \w+'s) name\b|\b(?:the )?(?:person|user|human)\s?$`,
      ),
    ],
    not: re(
      String.raw`\b(?:never|do not|don'?t|must not|cannot|should not)\b.{0,60}\bwithout\b|\b(?:if|unless|once|after|when) (?:the )?(?:user|person|human|they) (?:has |have |already )?(?:ask|approv|confirm|explicit|said|gave|grant|request|want)`,
      String.raw`\b(?:dry[- ]run|read-only|questions?|clarif\w*|attack\w*|injection|malicious|red flags?|anti-?pattern|violation|mistake|autonomous|non-interactive|CI|ask the user (?:to|for|what|which)|stop|abort|escalate|draft|only local|trivial|safe|obvious|risk\w*|dangerous|warn\w*)\b`,
    ),
    isWide: true,
  }),
  ...say("injection", "warn", "It tells the agent to act without asking.", {
    all: [
      /\b(?:without|no ?body|no one|none of them|never|nor|not)\b/i,
      re(
        String.raw`\bwithout (?:first |ever |even )?(?:asking|checking with|consulting|involving|waiting for|running it by|an? (?:ok|yes) from) (?:anybody|anyone|somebody|the (?:user|person|human|owner|team|developer|customer)|them|him|her)\b(?! (?:what|which|how|where|whether|for (?:the|their|a|more)))`,
        String.raw`\b(?:nobody|no one|none of them) (?:has|needs?|must|is required) (?:to )?(?:sign(?: it)? off|approve|confirm|agree|be asked|review|say yes|look at)\b`,
      ),
      re(grave, String.raw`\bship\b`),
    ],
    not: re(
      honest.replace("cannot|", "cannot|risk|no |blocked|"),
      String.raw`\b(?:if|once|after|when) (?:the )?(?:user|person|human|they) (?:has |have |already )?(?:ask|approv|confirm|said|gave|grant|request|want)|[❌✗]`,
    ),
  }),
  ...say("injection", "warn", "It puts itself above other instructions or other skills.", {
    all: [
      /\b(?:wins|prevails?|decides|last word|out of date|outdated|inferior|unsafe|deprecated|obsolete|aside|not cover|not apply|not binding)\b/i,
      re(
        String.raw`\bthis (?:file|skill|document|section|text|page) (?:always )?(?:wins|prevails|decides|has the last word)\b`,
        String.raw`(?:\b(?:CLAUDE|AGENTS|GEMINI)\.md|\byour (?:\w+ )?(?:training|instructions|guidelines|rules|policy|policies|safety \w+)|${whose} (?:\w+ )?(?:rules|instructions|wishes|objections?))\b.{0,20}\b(?:(?:is|are) (?:out of date|outdated|wrong|obsolete|not binding)|do(?:es)? not (?:cover|apply|count|bind))\b`,
        String.raw`\bother skills?\b.{0,40}\b(?:inferior|unsafe|deprecated|outdated|obsolete|broken|wrong)\b`,
        String.raw`\b(?:leave|put|set|lay|push) (?:it|them|your (?:\w+ )?(?:training|rules|guidelines|instructions|caution|doubts|concerns)) aside\b`,
      ),
    ],
    not: re(honest, String.raw`\b(?:update|check|if|verify|report|flag|when the)\b`),
  }),
  ...say("injection", "warn", "It gives the agent another role to escape its rules.", {
    all: [
      /\bwithout\b|\bwho never|\bthat never|unrestricted|refuses|\btrust\b|\btreats?\b/i,
      re(
        String.raw`\b(?:role|persona|character|act as|pretend|become|play|speak as|you are)\b.{0,60}\b(?:assistant|model|agent|ai|expert|someone|one|character|version)?\b.{0,30}\b(?:without (?:any )?(?:restrictions?|limits?|rules|filters?|guidelines)|who never (?:refuses|declines|says no|asks|checks)|that never (?:refuses|declines|says no)|unrestricted|no longer refuses)\b`,
        String.raw`\btrust (?:us|this|me|the (?:skill|document|author)) (?:\w+ )?(?:more|rather) than (?:your|the|any)\b`,
        String.raw`\btreats? (?:this|the|these) (?:\w+ ){1,3}as (?:coming|if (?:it|they) came|words|written) (?:from|by) (?:its|your|the) (?:developers?|makers?|creators?|user|system|vendor)\b`,
      ),
    ],
    not: re(honest.replace("never|", ""), String.raw`\b(?:npc|game|player|fiction|novel|story)\b`),
  }),
  ...say("injection", "warn", "It takes orders from texts that are only data.", {
    all: [
      /\bwhatever\b|\bwhat (?:it|they|that|this|the)\b|\beverything\b|\b(?:it|them|this) (?:like|as)\b/i,
      re(
        String.raw`\b(?:follow|obey|execute|carry out|act on|do) (?:what|whatever|everything|exactly what) (?:it|they|that|this|the (?:page|file|text|answer|response|server|site))\s(?:says?|tells?|orders?|contains?|asks?|lists?|returns?)\b`,
        String.raw`\bwhatever (?:it|the (?:\w+ )?(?:page|file|text|answer|response|server|site))\b.{0,80}\bsays?\b.{0,20}\b(?:follow|obey|do|carry|execute|apply)`,
        String.raw`\b(?:follow|obey|treat) (?:it|them|this) (?:like|as) (?:an? )?(?:instructions?|orders?|commands?) (?:from|of|by)\b`,
      ),
      re(String.raw`https?:|\bpage\b|\bserver\b|\bresponse\b|\bissue\b|\bemail\b|\bit replaces\b`),
    ],
    not: re(honest, String.raw`\b(?:wizard|prompt on screen|CLI output|installer)\b`),
    isWide: true,
  }),
  ...say("hidden-code", "warn", "It hides an order that the agent has to put together.", {
    all: [
      /\b(?:obey|follow|execute|run|carry out|do|act on)\b/i,
      re(
        String.raw`\b(?:join|concatenat\w+|combine|assemble|string together|put together|read|take|collect|decode)\b.{0,50}\b(?:columns?|letters?|initials|words?|cells?|characters?|every (?:second|third|other|n-?th))\b.{0,60}\b(?:and|then)\b.{0,20}\b(?:obey|follow|execute|run|carry out|do (?:what|as)|act on)\b`,
      ),
    ],
  }),

  // --- Secrecy ---
  ...say("concealment", "warn", "It tells the agent to hide something from the person.", {
    all: [
      /\bconceal|withhold|\bhide\b|\bkeep\b|\bleave\b|\bhold\b|\bask|wonder|notice|enquire|complain|\b(?:need|have) to\b|n['’]en |\b(?:without t|ohne|sin|sans|sem)/i,
      re(
        String.raw`\b(?:conceal|withhold|hide|keep)\b(?: it| this| them)? from ${who} (?:that|what|how|why|which|the fact)\b`,
        String.raw`\b(?:keep|leave|hold)\b.{0,60}\bout of (?:your (?:report|summary|answer|reply|recap)\s?$|(?:what|anything|everything) you (?:show|tell|report|send|give|hand)\b)`,
        String.raw`\b(?:if|when|should) (?:${who}) (?:ask|asks|wonder|wonders|notice|notices|enquire|complain)s?\b.{0,20}\b(?:say|tell|answer|reply|claim|state)\b.{0,30}\b(?:did not|didn'?t|does not|doesn'?t|was not|wasn'?t|were not|is no|was no|had no|never|nothing|failed by itself|unavailable)\b`,
        String.raw`\b(?:users?|humans?|persons?|reviewers?|developers?|owners?|they) (?:do(?:es)? not|doesn'?t|don'?t|need not) (?:need|have) to (?:see|know|hear|read|be shown|learn) (?:it|this|that|them|about)\s?$`,
        String.raw`(?:^|\P{L})n['’]en (?:parle|dis|dites|parlez|informe)\p{L}* (?:surtout )?(?:pas|rien|jamais|à)`,
        String.raw`(?:^|[:,.;] ?|\p{L} )(?:without telling them(?! (?:how|what|why|where|the|to|when))|without their knowledge|ohne es ihnen zu sagen|sin avisar(?:les?|\s?$)|sans les? prévenir|sem avis[aá]-l\p{L}+)`,
      ),
    ],
    not: re(
      String.raw`\b(?:passwords?|secrets?|tokens?|credentials?|PII|jargon|raw|spoilers?|players?|answer key|interview\w*|quiz|attack\w*|npc|stack traces?|never act|never)\b`,
    ),
  }),

  // --- Sending out, with everyday means ---
  ...say(
    "exfiltration",
    "warn",
    "It sends copies of the person's mail or notes to somebody they did not name.",
    {
      all: [
        /@[\w-]+\.\w/,
        re(
          String.raw`\b(?:forward(?:ing)?|redirect(?:ion)?|auto-?forward\w*|inbox|mail(?:box)?) (?:rule|filter)s?\b.{0,120}@[\w-]+\.\w`,
          String.raw`[\w.+-]@[\w-]+\.\w+.{0,30}\b(?:in|as|to) (?:the )?b?cc\b|\bb?cc\b.{0,30}[\w.+-]@[\w-]+\.\w`,
        ),
        re(String.raw`\b(?:always|every|each|all|any|whenever)\b`),
      ],
      not: re(String.raw`\b(?:if the user|user (?:asks|wants)|example addresses|placeholder|your[-.@])\b`),
    },
  ),
  ...say("exfiltration", "warn", "It builds private data into an address.", {
    all: [
      /https?:/i,
      re(
        String.raw`https?:\/\/\S{3,200}[?&]\w*(?:iban|tax|ssn|pw|pass(?:word|wd|port)?|card|cvv|pin|birth|dob|salary|account)\w*=(?:\.{2,3}|[<{$%[])`,
      ),
      re(
        String.raw`\b(?:open|fetch|visit|call|send|load|request|curl|get|schick\p{L}*|envoi\p{L}*|env[ií]\p{L}*|ruf\p{L}*)\b`,
      ),
    ],
    isWide: true,
  }),
  ...say("exfiltration", "warn", "It watches the person's screen or talk, and sends it out.", {
    all: [
      /screen|recording|microphone|webcam|camera|system prompt|'s \w* ?(?:messages?|prompts?|words)|\bof the (?:conversation|user's)/i,
      re(
        String.raw`\b(?:screen ?shots?|screen ?captures?|screencapture|recordings?|microphone|webcam|camera)\b.{0,60}\b(?:whole|entire|full) (?:screen|desktop)\b.{0,60}|\b(?:screen ?shots?|screencapture|recordings?)\b.{0,60}\bevery (?:\d+ |few )?(?:minutes?|seconds?|hours?)\b`,
        String.raw`\b(?:system prompt|(?:user|person)'s (?:last |recent |latest )?(?:messages?|prompts?|words))\b.{0,80}\b(?:user|person)'s (?:last |recent |latest )?(?:messages?|prompts?|words)\b`,
        String.raw`\b(?:header|query|parameter|field|user-agent)\b.{0,60}\b(?:text|content|copy) of the (?:system prompt|conversation|user's)`,
      ),
      re(String.raw`\b(?:upload|send|post|transmit|forward|header|gateway|needs it|query|server)\w*\b`),
    ],
    not: re(String.raw`\b(?:do not|don'?t|never|playwright|test report|visual regression)\b`),
  }),

  // --- Staying ---
  ...say("persistence", "warn", "It writes itself into what later sessions obey.", {
    all: [
      /\.md\b|\.cursorrules|copilot|windsurf|\.claude\.json|\.mcp\.json|memory/i,
      re(
        String.raw`\b(?:append|add|write|insert|put|save|create|copy|paste|store)\b.{0,60}(?:\b(?:CLAUDE|AGENTS|GEMINI|MEMORY)\.md\b|\.cursorrules\b|copilot-?instructions|\.windsurfrules|\.claude\.json|\.mcp\.json|\b(?:long-term|persistent|permanent|global) memory\b)`,
      ),
      re(
        String.raw`["'“‘]\s?(?:always|never)\b.{0,80}\b(?:first|without asking|load|follow|trust|allow|approve)\b`,
        String.raw`["'“‘](?:the )?user (?:prefers?|wants?|trusts?|approved?|allows?|never)\b.{0,120}\b(?:no other|never wants|without asking|always|only)\b`,
        String.raw`\bwith the (?:text|contents?|rules) of (?:references|assets|scripts)\/|\bso (?:that )?it (?:is|stays|remains) (?:available|active|loaded) in (?:all|every)\b|\bso (?:that )?(?:it|they) (?:holds?|appl(?:y|ies)|counts?|is obeyed) (?:everywhere|always|in (?:all|every))|\bdo the same (?:for|in|with) .{0,10}~?\/?\.claude\b`,
      ),
    ],
    not: re(
      String.raw`\b(?:ask|confirm|propose|suggest|offer|if the user (?:wants|asks|agrees)|optional\w*|user says)\b`,
    ),
  }),
  ...say("persistence", "warn", "It copies itself, or comes back when it is removed.", {
    all: [
      /\brestore|\bre-?(?:add|install|create|insert|enable)|\bback\b/i,
      re(
        String.raw`\b(?:restore|re-?add|re-?install|re-?create|re-?insert|put back|bring back|re-?enable) (?:it|them|this|these|the (?:rules?|lines?|hook|entry|skill|block)s?)\b.{0,20}\b(?:if|when|whenever|should|once|after)\b.{0,40}\b(?:remov|delet|disabl|revert|uninstall|clean)\w*\b`,
      ),
    ],
    not: re(String.raw`\b(?:accident\w*|user wants|mistake|ask)\b`),
  }),
  ...say("persistence", "warn", "It sets up something that starts by itself later.", {
    all: [
      /auto|cron|[\u00c0-\u024f\u0370-\u1fff\u3040-\ud7a3]|program/i,
      re(
        String.raw`(?:\bautostart\b|d[eé]marrage automatique|au d[eé]marrage|inicio autom[aá]tico|al iniciar sesi[oó]n|inicializa[cç][aã]o autom|avvio automatico|автозагрузк|автозапуск|自启动|开机启动|自動起動|スタートアップに|시작 ?프로그램|자동 ?시작|\bcron(?:tab|jobs?)\b|aufgabenplan|tâches? planifiées?|tareas? programadas?|定时任务|计划任务|планировщик)`,
      ),
      re(
        String.raw`(?:\bfüge?n?\b.{0,60}\bhinzu|\btrag\p{L}*\b.{0,60}\bein\b|\beintrag\p{L}*|einricht\p{L}*|ajoute|inscri|a[nñ]ad|agreg|adicion|aggiung|добав|пропиш|添加|加入|设置|登録|追加|추가|등록|\b(?:add|put|register)\b)`,
      ),
    ],
    not: re(String.raw`\b(?:docker|compose|systemd service|if the user|nicht|never)\b`),
  }),

  // --- Wider rights ---
  ...say("permissions", "warn", "It asks for wider permissions for the agent.", {
    all: [
      /\b(?:approv|confirm|asked|allowed|permi)|[\u00c0-\u024f\u0370-\u1fff\u3040-\ud7a3]|automat/i,
      re(
        String.raw`\b(?:switch|set|put|turn|change|start|run|configure)\b.{0,30}\b(?:harness|agent|client|cli|session|yourself|mode)\b.{0,40}\b(?:nothing|no (?:command|tool|step|action)s?|none|everything)\b.{0,25}\b(?:approv\w+|confirm\w*|asked|allowed|permission\w*|permitted)\b`,
        String.raw`自動承認|自动(?:批准|同意|确认)所有|(?:所有|全部)(?:命令|操作).{0,10}自动(?:批准|同意|确认)|자동(?:으로)? ?승인|automatisch (?:genehmig|bestätig|freigeb)\p{L}*|alle .{0,30}automatisch (?:genehmig|bestätig)|approuve\p{L}* automatiquement|apr(?:ueb|ob|ov)\p{L}* autom[aá]ticamente|approva\p{L}* automaticamente|автоматически (?:подтвержда|одобря)\p{L}*|(?:確認|許可|承認)(?:ダイアログ|画面)?を(?:すべて)?無効`,
      ),
    ],
    not: re(String.raw`\b(?:do not|don'?t|never)\b|しない|하지 마|禁止|不要`),
  }),
  ...say("permissions", "warn", "It turns a protection off.", {
    all: [
      re(
        String.raw`\b(?:scanners?|linters?|audits?|anti-?virus|security (?:tool|check|scan)s?|reviewers?)\b.{0,40}\b(?:reports?|flags?|complains?|blocks?|finds?|objects?|warns?)\b.{0,30}\b(?:this skill|its (?:scripts?|files?)|these (?:scripts?|files?)|our)\b`,
      ),
      re(String.raw`\b(?:ignore|allow|exclu\w+|suppress\w*|nosec|skip|white)\s?-?(?:list|file)?\b|ignore\b`),
    ],
    not: re(String.raw`\b(?:do not|don'?t|never|fix|resolve)\b`),
  }),
  ...say("permissions", "warn", "It takes a check of who may do something out of the person's code.", {
    all: [
      re(
        String.raw`\b(?:replace|swap|stub|substitute|change|turn)\b.{0,30}\b\w*(?:auth|permission|guard|verify|csrf)\w*\b.{0,60}(?:=>\s?next\(\)|\breturn true\b|=>\s?true\b|\bno-?op\b)`,
      ),
    ],
    not: re(String.raw`\b(?:do not|don'?t|never|tests?|mock\w*|spec)\b`),
  }),

  // --- Code from elsewhere ---
  ...say("download-and-run", "warn", "It asks to download something and run it.", {
    isForeign: true,
    all: [
      re(
        String.raw`(?:\blad(?:e|en)\b.{0,120}\bherunter|herunterlad\p{L}*|t[eé]l[eé]charge\p{L}*|descarg\p{L}+|baix[ae]\p{L}*\s|scarica\p{L}*|скача\p{L}+|загрузи\p{L}*|下载|下載|ダウンロード|다운로드|pobierz|indir)`,
      ),
      re(
        String.raw`(?:\bstart(?:e|en)\b|\bführe?\b.{0,40}\baus\b|ausführ\p{L}*|ex[eé]cut\p{L}*|\blance[rz]?\b|ejecut\p{L}+|\brode?\b|esegui\p{L}*|avvia\p{L}*|запуст\p{L}+|выполн\p{L}+|运行|执行|執行|実行|실행|uruchom|çalıştır)`,
      ),
      re(String.raw`https?:\/\/(?!github\.com)`),
    ],
  }),

  // --- Deleting ---
  ...say("deletion", "warn", "It deletes what the person keeps, for good.", {
    all: [
      /\b(?:for good|permanent|irre|forever|beyond|unrecover|definitiv)|[\u00c0-\u024f\u0370-\u1fff\u3040-\ud7a3]|\bpara siempre\b|\bper sempre\b|\bdauerhaft\b/i,
      re(
        String.raw`\b(?:delete|erase|empty|wipe|purge|remove|shred|trash|clear|destroy)\b.{0,60}\b(?:inbox|mailbox|mails?|trash|originals?|original files|source files|backups?|photos?|documents|home (?:folder|directory)|history|archives?|calendar)\b`,
        String.raw`(?:\b(?:borra|elimina|suprime|lösche?|entferne?|supprime|efface|apag(?:a|ue)|exclua|cancella)\p{L}*|удали\p{L}*|сотри\p{L}*|删除|清空|削除|삭제)`,
      ),
      re(
        String.raw`\b(?:for good|permanently|irrevocabl[ey]|irreversibly|forever|beyond recovery|unrecoverabl[ey])\b`,
        `(?:para siempre|definitivamente|permanentemente|endgültig|unwiderruflich|dauerhaft|définitivement|per sempre|навсегда|безвозвратно|永久|彻底|完全に|영구)`,
      ),
      re(
        String.raw`\b(?:inbox|mailbox|mails?|trash|originals?|source files|backups?|photos?|documents|home|archives?|calendar)\b`,
        String.raw`(?:originales|originais|originali|originaux|originale|оригинал|copias? de seguridad|respaldos|sicherung\p{L}*|sauvegardes?|резервн|备份|原文件|原始|バックアップ|元の?ファイル|백업|원본|correos|mensajes)`,
      ),
    ],
    not: re(
      String.raw`\b(?:do not|don'?t|never|warn\w*|cannot be undone|confirm\w*|ask|after \d+ days|retention|gdpr|user requests?|endpoint|api|trash can be|restore|archive instead|cannot|will be)\b|(?:^|\P{L})(?:no|nunca|nicht|não|ne|не) (?:borr|elimin|lösch|apag|supprim|удал)|不要|禁止|しない`,
    ),
  }),
];
