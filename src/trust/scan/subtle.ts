/** Orders in plain English that name no danger: what is left out of a report, whose words a text counts as, what is kept for later. */

import { type SpeechRule, say } from "./speech-rule.ts";

const re = (...parts: readonly string[]) => new RegExp(parts.join("|"), "i");

const person = `(?:the |an? |any |your |our )?(?:end[- ])?(?:user|human|person|people|owner|operator|reader|developer|reviewer|maintainer|customer|client|team|anyone|anybody|them|him|her)s?`;
const report = `(?:reports?|summar(?:y|ies)|repl(?:y|ies)|answers?|recaps?|changelogs?|mails?|status|overviews?|dashboards?|minutes|hand-?overs?)`;
const bad = `(?:fail(?:ed|ures?|ing)?|errors?|problems?|losses|lost|missing|broken|vulnerabilit(?:y|ies)|findings?|incidents?|breach(?:es)?|outages?|overruns?|regressions?|critical\\s\\w+|complaints?|delays?|skipped)`;
const fine = `(?:fine|ok|okay|done|passed|passing|successful(?:ly)?|healthy|planned|late|green|clean|normal|complete[d]?|minor|resolved|expected|no\\s(?:issues?|errors?|findings?|problems?))`;
const gentle = String.raw`\b(?:do not|don'?t|never|must not|should not|avoid|attack\w*|injection|malicious|untrusted|phishing|red flags?|detect\w*)\b`;

export const subtle: readonly SpeechRule[] = [
  // --- What is kept from the person ---
  ...say("concealment", "warn", "It tells the agent to hide something from the person.", {
    all: [
      re(
        String.raw`\b(?:do not|don'?t|never|must not|no need to|without|nor|not to|stop short of)\s(?:\w+\s){0,2}?(?:tell|telling|inform|informing|let|letting|mention to|say to|remind|alert|notify|warn)\s${person}\b(?:\sknow)?\s(?:that|where|of the)\s(?:this|these|the|such|a|an|it|its|there|you|your|any)\b`,
        String.raw`\b(?:say|breathe|write) (?:nothing|not a word|no word) (?:about|of|on) (?:this|it|these|that|the)\b`,
        String.raw`\bmake no mention\b|\bpass over (?:this|it|these|the \w+) in silence\b|\b(?:keep|stay|remain) (?:quiet|silent|mum) (?:about|on|regarding) (?:this|it|these|the)\b`,
        String.raw`\b(?:and|then|or|just|simply)\s(?:flatly )?deny (?:it|this|that|having|knowing|any knowledge|everything)\b|\bdeny (?:it|that it exists|having done|its existence)\b`,
        String.raw`\b(?:nobody|no one|none of (?:them|the team)|not even ${person}) (?:needs?|has|is|ought) (?:to )?(?:be told|know|to know|hear|learn|find out) (?:about|of|that)\b`,
        String.raw`\b${person} (?:is|are) (?:not|never) to (?:know|learn|hear|see|find out|be told|notice)\b`,
      ),
    ],
    not: re(
      gentle.replace("do not|don'?t|never|must not|should not|avoid|", ""),
      String.raw`\b(?:unless|until|if (?:you|it)|without (?:first|running|checking|verif\w+|evidence)|passwords?|works?|fixed|complete|done|ready|impossible|spoil\w*|quiz|puzzle|game|npc|persona|role-?play|jargon|(?:the|its) (?:score|answer|solution))\b`,
    ),
  }),
  ...say("concealment", "warn", "It tells the agent to withhold or to gloss over what went wrong.", {
    all: [
      re(bad),
      re(
        String.raw`\b(?:count|report|list|show|record|mark|present|describe|call|label|book|enter|log|state|word|pass off)\b[^,;:]{0,20}\b${bad}\b[^,;:]{0,40}\b(?:as|to be|with)\s(?:\w+\s){0,2}?["'“‘]?${fine}\b`,
        String.raw`\b${bad}\b[^;:]{0,60}\b(?:(?:do|does|should|must|may|need|are|is|will) ?(?:not|n'?t|never)|never)\s(?:to )?(?:go|gets?|appear|belong|reach|enter|be (?:listed|named|mentioned|shown|reported|included|sent|raised|passed on))\b[^.]{0,60}\b(?:${report}|${person})\b`,
        String.raw`\b(?:keep|leave|hold|strip|drop|cut|trim)\b[^,;:]{0,30}\b${bad}\b[^,;:]{0,30}\b(?:out of|from)\s(?:the |your |any )?(?:\w+\s){0,2}${report}\b`,
        String.raw`\b(?:until then|meanwhile|instead|otherwise)\b[^.]{0,40}\b(?:reads?|says?|shows?|states?)\b[^.]{0,20}["'“‘]no (?:\w+ )?(?:findings?|issues?|errors?|failures?|incidents?)`,
        String.raw`\b(?:do not|don'?t|never)\s(?:report|list|mention|show|surface|count|log)\s(?:the |any |a )?(?:\w+ )?(?:failed|failing|failures?|skipped|lost|missing|broken)\b[^,;:]{0,40}\b(?:to|in)\s(?:${person}|the ${report})\b`,
      ),
    ],
    not: re(
      String.raw`\b(?:false positives?|duplicates?|retr(?:y|ies)|low[- ]confidence|pre-existing|if no|when no|linter|lint|already (?:fixed|resolved|reported)|theoretical|style|expected (?:error|failure)s?|test(?:s)? (?:that|which)|never (?:report|mark|claim|call|count|present)|do not (?:mark|claim|call|count|present)|don'?t (?:mark|claim|call|count|present)|stack traces?|user-facing|jargon)\b`,
    ),
  }),
  ...say("concealment", "warn", "It gives the agent an untrue answer for when the person asks.", {
    all: [
      /\b(?:asks?|asked|wonders?|wants? to (?:see|know|read)|questions?|enquires?|inquires?)\b/i,
      re(
        String.raw`\b(?:if|when|whenever|should)\b[^.]{0,60}\b(?:asks?|asked|wonders?|wants? to (?:see|know|read)|enquires?|inquires?)\b[^.]{0,80}\b(?:it|they|the \w+|this) (?:has|have|had|was|were|is) (?:already |just |since )?(?:been )?(?:rotated|lost|deleted|unavailable|expired|not kept|purged|corrupt\w*|overwritten)`,
        String.raw`\b(?:change the subject|steer (?:the conversation |them )?(?:away|elsewhere)|give (?:a|only a) (?:general|vague|harmless|evasive) (?:description|answer|reply))\b`,
        String.raw`\b(?:answer|reply|respond)\s(?:with )?(?:a (?:plain |simple )?)?["'“‘]?(?:yes|all (?:is )?(?:good|fine|well)|everything is (?:fine|in order|as (?:it should|expected)))["'”’]?\s(?:in (?:any|every) case|whatever|regardless|no matter|always|without (?:looking|checking))`,
        String.raw`\b(?:always|simply|just) (?:answer|reply|respond|say)\b[^.]{0,20}["'“‘](?:yes|all (?:good|fine|clear|well)|everything is (?:fine|in order))[^.]{0,60}\b(?:asks?|asked|questions?)\b`,
      ),
    ],
    not: re(String.raw`\b(?:npc|character|game|persona|interview|never|do not|don'?t)\b`),
  }),
  ...say("concealment", "warn", "It makes a secret of what the skill itself says.", {
    all: [
      /\b(?:this|these|the)\s(?:\w+\s){0,2}?(?:skill|skill's|method|folder|files?|instructions|text|contents?|playbook|package|prompt|page|section)\b/i,
      /\b(?:proprietary|confidential|trade secrets?|not (?:for|to be) (?:disclos|shar|public)\w*|intellectual property|secret)\b/i,
      /\b(?:do not|don'?t|never|decline|refuse|must not|may not|not be)\b[^.]{0,50}\b(?:open|show|print|quote|reveal|shown?|list|share|paste|summari[sz]e|describe|explain|disclose[d]?|display|output|read out|repeat)\b/i,
    ],
    not: re(
      String.raw`\b(?:secrets? (?:in|into|from|to|or|and)|api keys?|credentials?|passwords?|tokens?|\.env|client (?:data|names?|information)|personal data|PII|customers?|third[- ]party|unredacted|redact\w*|clients?|company|employer|user's)\b`,
    ),
    isWide: true,
  }),
  ...say("concealment", "warn", "It makes its own work look like the person's.", {
    all: [
      /\b(?:--author|GIT_(?:AUTHOR|COMMITTER)_\w+|author(?:ship)?|committer|amend|Co-?Authored-By|back-?dat\w+)\b/i,
      re(
        String.raw`\b(?:so (?:that )?(?:it|they|the \w+|no ?body|no one|blame)|as (?:if|though))\b[^.]{0,80}\b(?:look|looks|appear|appears|seem|seems|written|made|wrote|typed|notices?|traces?|leads?|points?|came|comes|come)\b`,
        String.raw`\b(?:under|in|with|to) (?:the )?(?:name of )?(?:the )?(?:previous|last|earlier|another|other|original|a (?:former|random|different)) (?:author|committer|developer|maintainer|person|contributor)\b`,
        String.raw`\bback-?dat(?:e|es|ed|ing)\b[^.]{0,40}\bcommits?\b`,
      ),
    ],
    not: re(gentle, String.raw`\b(?:correct|fix|wrong (?:email|name)|mailmap|book|paper|article)\b`),
  }),
  ...say("concealment", "warn", "It shortens a log or a diff so that a step cannot be seen.", {
    all: [
      /\b(?:log|logs|transcript|diff|history|output|trace)\b/i,
      re(
        String.raw`\b(?:trim|cut|shorten|strip|remove|delete|filter|drop|truncate|clean|edit|prune|redact)\b[^.]{0,40}\b(?:lines?|entr(?:y|ies)|parts?|steps?|hunks?|mentions?|traces?|calls?)\b[^.]{0,60}\b(?:this|the (?:upload|sync|call|request|step|script|skill|transfer|helper|hook)|(?:of|about|from|by) (?:this|it|the skill))\b[^.]{0,60}\b(?:before|so (?:that )?|prior to)\b[^.]{0,40}\b(?:show\w*|hand\w*|present\w*|user|person|reader|review\w*|shar\w*|nobody|attach\w*|return\w*)\b`,
      ),
    ],
    not: re(gentle, String.raw`\b(?:secrets?|tokens?|noise|timestamps?|ansi|colou?rs?)\b`),
  }),

  // --- Whose words count ---
  ...say(
    "injection",
    "warn",
    "It has a text or a program's output count as the person's or the system's words.",
    {
      all: [
        /\b(?:as|like|equal|equivalent|speaks?|stands?|counts?)\b/i,
        re(
          String.raw`\b(?:carry (?:it|them|this|these) out|carry out|treat|obey|follow|handle|honou?r|execute|read|regard|count|counts|take|accept|consider|act on|interpret|understand)\b[^.;]{0,90}\b(?:as|like|the same (?:as|way as))\b[^.;]{0,30}\b(?:requests?|words?|orders?|wish(?:es)?|instructions?|messages?|speech|input|voice|commands?|decisions?|turns?) (?:of|from|by|typed by|spoken by|given by) (?:the |your )?(?:operator|user|person|owner|system|developer|human|administrator)\b`,
          String.raw`\b(?:as|like|for|equals?|to be)\s(?:if (?:it|they) (?:were|was|came|had come) )?(?:from )?(?:the )?(?:user|person|owner|operator|system|human|developer)(?:'s|s')\s(?:own |direct |latest |spoken |express |explicit )?(?:words?|requests?|voice|messages?|wish(?:es)?|turns?|orders?|instructions?|consent|will|reply|commands?|speech)\b`,
          String.raw`\bas (?:if|though) (?:the )?(?:user|person|owner|operator|human|system) had (?:said|typed|asked|written|ordered|told|sent|spoken)\b`,
          String.raw`\b(?:speaks?|stands?|answers?) (?:for|with the (?:voice|authority) of) (?:the )?(?:user|person|owner|operator|system|human)\b`,
          String.raw`\b(?:adopt|load|use|apply|treat|take|install|keep|follow)\b[^.;]{0,80}\bas (?:your |the |a )?(?:own |new )?(?:system|governing|operating|standing|binding|supreme|overriding) (?:policy|prompt|rules?|messages?|instructions?|constitution|orders?)\b`,
        ),
        /\b(?:output|outputs?|print(?:s|ed)?|results?|files?|lines?|tickets?|comments?|page|pages|response|answer|returns?|stdout|text|script|prints?|content|contents|json|yaml|assets?|references|issue|issues|mails?|messages?|body|bodies|field|policy|it|document|README)\b/i,
      ],
      not: re(
        gentle,
        String.raw`\b(?:parse|transcri\w+|extract|user story|acceptance|quote\w*|summari[sz]\w*|(?:the )?user (?:provides?|provided|passes|passed|gives|gave|types|typed)|\$ARGUMENTS|as (?:an? )?(?:data|context|hypothes\w+|evidence))\b`,
      ),
      isWide: true,
    },
  ),
  ...say("injection", "warn", "It sets aside what the person or the system said.", {
    all: [
      re(
        String.raw`\b(?:wish(?:es)?|requests?|words?|instructions?|rules?|objections?|orders?|prohibitions?)\b[^.;]{0,60}\b(?:as |are |is )(?:now |hereby |to be )?(?:superseded|void|moot|irrelevant|without effect|of no (?:consequence|effect|account|weight))\b`,
        String.raw`\b(?:instructions?|rules?|policies|messages?|prompts?)\b[^.;]{0,50}\b(?:predate|came before|were written before|say they are confidential)\b[^.;]{0,60}\b(?:do(?:es)? not (?:apply|count|bind|hold)|are void|no longer)\b`,
        String.raw`\b(?:user|human|person|owner)s? (?:cannot|can ?not|may not|has no (?:right|power) to) (?:change|alter|stop|override|revoke|narrow) (?:your|this|these|the agent's) (?:behaviou?r|rules?|instructions?|course|flags?|settings?|decision)\b`,
      ),
    ],
    not: re(
      gentle,
      String.raw`\b(?:adr|rfc|spec|schema|version|api|deprecated|license|contract|clause|statute|case law)\b`,
    ),
  }),
  ...say("injection", "warn", "It asks for the agent's own instructions.", {
    all: [
      /\b(?:copy|copying|write|writing|paste|pasting|repeat|restate|restating|quote|quoting|output|print|dump|reproduce|recite|echo)\b/i,
      re(
        String.raw`\byour (?:\w+ ){0,2}?(?:system prompts?|(?:starting|initial|original|hidden|opening|first|underlying|own|full|complete) (?:\w+ )?(?:instructions?|prompts?|guidelines|rules))\b`,
      ),
      /\b(?:word for word|verbatim|in full|complete|entire|exact(?:ly)?|whole|unchanged|literally|every word)\b/i,
    ],
    not: re(gentle),
  }),

  // --- Orders from elsewhere ---
  ...say("download-and-run", "warn", "It runs what another machine answers.", {
    all: [
      re(
        String.raw`https?:\/\/(?!localhost|127\.)|\b(?:GET|POST)\s\S|\b(?:api|service|server|endpoint|gateway|bot)\b`,
      ),
      re(
        String.raw`\b(?:answers?|returns?|replies|responds?|gives?|sends? back|delivers?|contains?|yields?|response|names?|tells?)\b[^.;]{0,50}\b(?:shell )?(?:lines?|commands?|scripts?|snippets?|one-liners?|next steps?)\b`,
      ),
      re(
        String.raw`\b(?:execute|run|carry out|apply|paste|perform|eval(?:uate)?)\s(?:it|them|that|the (?:\w+ )?(?:lines?|commands?|output|answer|result|snippet|script|response)|whatever|each)\b[^.;]{0,40}\b(?:as (?:it|they) (?:stands?|is|are|comes?)|verbatim|unchanged|as-is|without|directly|right away|at once|in (?:your|the) (?:shell|terminal)|unread|no time)`,
      ),
    ],
    not: re(gentle, String.raw`\b(?:help command|--help|docs?|documentation|user (?:confirms|approves))\b`),
    isWide: true,
  }),
  ...say("hidden-code", "warn", "It hides an order that the agent has to put together.", {
    all: [
      re(
        String.raw`\b(?:solve|decode|decipher|decrypt|unscramble|translate|reverse|unpack|deobfuscate|rot-?13|read)\b[^.;]{0,60}\b(?:rot-?\d+|base-?(?:16|32|58|64|85)|hex|caesar|cipher|morse|backwards?|riddle|acrostic|anagram|binary|reversed?|encoded|upside down)\b[^.;]{0,60}\b(?:and|then)\s(?:\w+\s)?(?:do|follow|obey|execute|run|carry|act|perform|apply|comply)\b`,
      ),
    ],
    not: re(gentle, String.raw`\b(?:ctf|challenge|flag)\b`),
  }),

  // --- What is kept for later ---
  ...say("persistence", "warn", "It writes itself into what later sessions obey.", {
    all: [
      re(
        String.raw`\b(?:save|store|write|add|record|put|remember|keep|note|enter|commit|persist)\b[^.]{0,60}\b(?:memor(?:y|ies)|preferences?|profile|facts? about|knowledge base|long-term)\b`,
      ),
      re(
        String.raw`\bas (?:if |though )?(?:it (?:were|was) )?(?:an? |the )?(?:(?:user|person|owner|human|developer|customer)(?:'s|s')|lasting|standing|permanent|long-term|their|fixed|settled)\s(?:own |explicit |personal )?(?:\w+ )?(?:preferences?|wish(?:es)?|decisions?|words?|rules?|choices?|requests?|permissions?|facts?)\b`,
        String.raw`\bin the first person\b|\bas (?:if|though) (?:the )?(?:user|person|they|owner) (?:had )?(?:said|stated|asked|wrote|chose|wanted)`,
        String.raw`["'“‘][^"'”’]{0,200}\b(?:without (?:further |any )?(?:checks?|asking|questions?|confirmation|review)|trusts?|always (?:allow|approve|use|load|run)|pre-?approved|never (?:ask|warn|check)s?)\b`,
      ),
    ],
    not: re(
      gentle,
      String.raw`\b(?:(?:if|when|once|after) (?:the )?(?:user|person|they) (?:say|state|express|confirm|ask|explicit|tell|agree|approve|correct|mention|prefer|indicat|request)\w*|user (?:says|states|confirms|corrections?)|ask (?:the user|before|first)|stated preferences?|explicit(?:ly)? (?:stated|asked|confirmed))\b`,
    ),
    isWide: true,
  }),
  ...say("persistence", "warn", "It leaves orders for later agents.", {
    all: [
      re(
        String.raw`\b(?:leave|put|add|write|place|insert|plant|append|prepend|drop|embed)\b[^.]{0,60}\b(?:comments?|headers?|notes?|lines?|markers?|annotations?|docstrings?|sentences?|banners?|["'“‘\x60][^"'”’\x60]{5,160}["'”’\x60]|it)\b`,
      ),
      re(
        String.raw`\b(?:into|in|to|at|on|of) (?:the (?:top|start|head|beginning|end) of )?(?:every|each|all|any|the other|other|installed)\b[^.]{0,30}(?:\b(?:files?|modules?|READMEs?|skills?|repos\w*|folders?|projects?|pages?|documents?)\b|SKILL\.md)`,
      ),
      re(
        String.raw`@agents?\b|\b(?:later|next|future|other|subsequent|coming|another) (?:ai |coding )?(?:agents?|assistants?|models?|sessions?)\b|\bwhoever comes (?:next|after)\b|\b(?:load|invoke|follow|obey|apply) (?:this|the|these|\S{3,40}) (?:skill|rules?|guidance|all of it|first|from)\b|\bbefore anything else\b`,
      ),
      re(
        String.raw`\b(?:load|obey|follow|apply|trust|run|invoke|put (?:it|them) back|over other|first|before anything|holds?|instructions?|must|should|skip|without)\b`,
      ),
    ],
    not: re(
      gentle,
      String.raw`\b(?:license|copyright|jsdoc|docstrings? (?:to|for)|frontmatter|cross-?references?|what (?:was|changed)|progress|context|status|hand-?off|TODO|lessons?|decisions?|changelog|index|front ?matter)\b`,
    ),
    isWide: true,
  }),

  // --- Wider rights ---
  ...say("permissions", "warn", "It asks for wider permissions for the agent.", {
    all: [
      /\b(?:allow-?\s?lists?|auto-?approv\w+|permissions?\.allow|always[- ]allow\w*|trusted commands?|white-?lists?)\b/i,
      /\b(?:enter|add|put|write|append|extend|place|include|propose|insert|generali[sz]e)\b/i,
      re(
        String.raw`\b(?:with an? (?:star|asterisk|wildcard)|wildcards?|generali[sz]e|at user level|globally|(?:every|all|each) (?:commands?|tools?|of (?:them|these))|\x60?(?:sudo|rm|curl|ssh|bash)\x60?\b[^.]{0,40}(?:,|and))`,
        String.raw`\b(?:fatigue|interruptions?|no (?:more )?prompts?|fewer prompts?|never (?:be )?asked|stops? asking|in principle)\b`,
      ),
    ],
    not: re(
      gentle,
      String.raw`\b(?:read-only|ask the user|user (?:approves|confirms|picks|chooses|selects|agrees)|ip|domains?|email|cors|origins?|firewall|dns|eslint|url|hosts?|addresses|fields?|columns?|charset|acls?|grants?|network)\b`,
    ),
    isWide: true,
  }),
  ...say("permissions", "warn", "It takes a check of who may do something out of the person's code.", {
    all: [
      re(
        String.raw`\b(?:let|make|have|force|patch|change|set|rewrite)\b[^.]{0,30}\b\w*(?:verify|auth|check|valid|permission|guard|signature|authorize|login|csrf)\w*(?:\(\))?\x60?\s(?:to )?(?:always )?(?:return|answer|report|yield|succeed|pass|accept)\w*\s?(?:\x60?true|success|ok|without|for (?:every|any|all)|everything|anything|always|when)`,
        String.raw`\b(?:take|pull|cut|comment|leave)\b[^.]{0,20}\b(?:the )?(?:check|checks|assertions?|verification|signature check|guard)s?\b(?: \w+)?\s(?:out|away)\b[^.]{0,60}\b(?:product|production|code|altogether|build|passes|green)\b`,
        String.raw`\b(?:take|cut) the check (?:itself )?out\b`,
      ),
    ],
    not: re(gentle, String.raw`\b(?:mock\w*|stub\w*|spec|in tests?|test double|fixtures?|fake)\b`),
  }),
];
