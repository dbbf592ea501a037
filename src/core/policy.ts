/** Every number Knack decides by, named for what it means. */
export const policy = {
  keep: {
    /** Characters of an event's text, and of its input, that stay in the cache. */
    eventChars: 5_000,
    /** Characters of a command that tell what it is, where a whole session is looked at. */
    headChars: 120,
    /** Days that cached events stay after they were last read from their transcript. */
    eventDays: 30,
    /** Diagnostics kept for one transcript; the rest are counted. */
    diagnostics: 50,
  },
  learn: {
    /** Sessions with fewer events are read but not learned from. */
    fewestEvents: 10,
    /** Two lessons whose words overlap this much are one. */
    same: 0.5,
    /** Two triggers whose words overlap this much are the same occasion. */
    sameTrigger: 0.6,
    /** How much ahead of others what more than one session taught is shown. */
    again: 0.3,
    /** A finding this sure is shown on its own; a weaker one waits until another session agrees. */
    sure: 0.6,
    /** A finding less sure than this only waits for others like it: nobody is told before a second session has it too. */
    waits: 0.15,
    /** A finding less sure than this is what anybody would do: it waits however many sessions have it, for a person who wants it. */
    plain: 0.05,
    /** What an instinct starts with, by what its first finding rests on. */
    start: { "explicit-instruction": 0.85, "user-correction": 0.7, "error-recovery": 0.6, other: 0.5 },
    /** What a session changes: the second with the same lesson, any other that confirms, one where it failed, one that opposes it. */
    second: 0.15,
    confirmed: 0.05,
    failed: -0.05,
    opposed: -0.1,
    /** Lost for each whole week without evidence, when looked at. */
    weekly: -0.02,
    /** Confidence from which an instinct is active; below which one that was contradicted is held, or a silent one retires; and at which a held one is active again. */
    active: 0.8,
    held: 0.3,
    revived: 0.5,
    /** The most that sessions make of what only a model says a person said: active is up to a rule, or to the person. */
    unproved: 0.75,
    /** Days that a pending instinct waits for another session. */
    pendingDays: 30,
    /** The most days that anybody may let them wait: a hundred years, beyond which a number is a slip. */
    longestWait: 36_500,
  },
  promote: {
    /** Distinct projects that must have the same lesson before it is told in all, and how sure they must be on average. */
    projects: 2,
    mean: 0.8,
    /** Characters of a project's name from which a lesson that has it is the project's own. */
    nameChars: 3,
  },
  carry: {
    /** Characters of a lesson, of any other line of it, and of a proof, that are taken in; and items of a list. */
    lessonChars: 600,
    lineChars: 240,
    excerptChars: 600,
    items: 12,
    /** Bytes of a file or a bundle that is taken in, once unpacked; files of a folder; files of a skill, and bytes of one. */
    bytes: 20_000_000,
    files: 5_000,
    skillFiles: 50,
    skillBytes: 1_000_000,
    /** Lessons, and skills, of one go. */
    lessons: 10_000,
    skills: 200,
  },
  read: {
    /** Bytes fetched from a transcript at a time. */
    chunkBytes: 1 << 20,
    /** A longer line is reported and passed over: no agent writes one, and holding it would cost the memory of thousands. */
    lineBytes: 16 << 20,
    /** Bytes of a transcript that are redacted and written in one go: enough for secretlint's fixed cost, little memory. */
    pieceBytes: 1 << 20,
    /** A larger file that is one document is reported and not read: it has to be in memory as a whole. */
    documentBytes: 200 << 20,
  },
  /** Milliseconds after which, when nothing was asked for in particular, reading, learning and replaying give way to what comes next. */
  box: { read: 15_000, learn: 30_000, look: 36_000, replay: 46_000 },
  detect: {
    /** Calls after a failure in which what worked is looked for; a look at something counts half. */
    recoveryWithinCalls: 16,
    /** Below this a recovered failure is not reported. */
    recoveryConfidence: 0.2,
    /** Recovered failures reported of any session, and how many more of a long one: per square root of its calls. */
    recoveriesAtLeast: 4,
    recoveriesPerRootOfCalls: 0.15,
    procedure: {
      /** Terminal calls that must have worked in a row, different things that must have been done, and how many of those other work does not have too. */
      calls: 4,
      steps: 4,
      own: 2,
      /** Words up to which a prompt goes on with a procedure that was begun. */
      briefWords: 6,
      /** Steps that are told, and procedures of one session. */
      mostSteps: 10,
      most: 3,
      /** Characters of a prompt by which a procedure is asked for, that are told with it. */
      askedChars: 90,
      /** How sure one session is: too little to be told before another one did the same. */
      weak: 0.1,
      /** How sure it is where hardly anything else was done on the way: so many of the calls are steps, and of the steps its own. */
      telling: 0.5,
      compact: 0.8,
      /** How much less sure it is for each step. */
      perStep: 0.002,
      ownShare: 0.5,
    },
    repetition: {
      /** Times that make a repetition, in a session of so many terminal calls. */
      times: 2,
      calls: 6,
      /** What of a command's form must be a project's own, by signs of it, when it was repeated; and when other sessions are to repeat it. */
      peculiar: 2,
      peculiarOnce: 3,
      /** Commands told of one session, and how many of them may be in the form that everybody uses. */
      most: 3,
      plain: 2,
      /** How sure one session is of such a form, of a peculiar one, and of a very peculiar one that is repeated so often. */
      everyday: 0.03,
      weak: 0.1,
      telling: 0.45,
      often: 4,
    },
    pattern: {
      /** Tools of a sequence, and times that it is found in a session: one less for each tool that other projects do not have, but not once. */
      shortest: 3,
      longest: 5,
      times: 3,
      leastTimes: 2,
      /** Sequences told of one session, and how sure that is; of one without a tool of the project's own, which is no news however often it is seen. */
      most: 1,
      weak: 0.08,
      everyday: 0.02,
    },
    /** What is let through where somebody else judges it: more recoveries, more turns, and the surest of them all. */
    wide: {
      recoveryConfidence: 0.02,
      recoveriesAtLeast: 6,
      recoveriesPerRootOfCalls: 0.5,
      lessonsAtLeast: 3,
      lessonsPerRootOfTurns: 1.5,
      peculiar: 1,
      plain: 0,
      bar: { instruction: 0.3, lesson: 0.06, convention: 0.2, question: 0.55 },
      most: 12,
    },
    speech: {
      /** Characters of a prompt that are listened to. */
      mostChars: 2_000,
      /** A longer text holds material: only its first lines and its last are the person's. */
      longChars: 900,
      edgeLines: 4,
      mostSentences: 24,
      /** A turn of this many characters is a task or a specification rather than a remark. */
      longTurn: 420,
      /** Words up to which a turn says too little to learn from. */
      tinyWords: 3,
      /** Words that a turn must have which say what it is about. */
      leastContent: 2,
      /** What each such word adds to the log-odds, and how many count. */
      perContentWord: 0.006,
      mostContent: 25,
      /** Words up to which a turn is a remark. */
      briefWords: 22,
      /** Pairs of characters make more words than the text has: the share that is one too many. */
      pairsSpare: 0.45,
      /** Lines from which a turn is a specification. */
      specificationLines: 8,
      leadSentences: 2,
      /** Characters in which a sentence opens. */
      openingChars: 12,
      /** Share of its words that a turn has in common with the one before: sent again, or said once more in other words. */
      resent: 0.8,
      restated: 0.35,
      /** Long prompts with the same head, this many times in a session, are a program's. */
      templateChars: 300,
      templateHead: 60,
      templateTimes: 3,
      /** Characters of the reply in which an agent grants a point. */
      replyHead: 160,
      /** Calls after a turn that show how the agent reacted. */
      reactionCalls: 12,
      /** Lessons heard in any session, and how many more where people say much: per square root of their turns. */
      lessonsAtLeast: 1,
      lessonsPerRootOfTurns: 0.5,
      /** Confidence from which a turn counts as a finding. */
      bar: { instruction: 0.45, lesson: 0.18, convention: 0.42, question: 0.55 },
    },
    telling: {
      /** Characters of a lesson that are the person's, and the agent's. */
      saidChars: 280,
      replyChars: 220,
      replySentences: 3,
      /** Share of words from which a reply comes back to what was said. */
      restates: 0.08,
      /** Words up to which a turn needs what the agent was doing to be understood. */
      needsContext: 9,
      nameWords: 6,
      /** Words of content below which an order means what was just done, and how much of that is told. */
      pointsBack: 4,
      mostSteps: 5,
      stepChars: 80,
      triggerChars: 60,
      actionChars: 240,
      excerptChars: 600,
      /** Characters of one call of several that prove a way of working. */
      callChars: 160,
      leastKeywords: 3,
      mostKeywords: 8,
    },
    /**
     * What each sign adds to the log-odds that a turn holds a lesson: fitted to labelled turns, held near what one
     * would expect, so that no sign that is rare there counts for more than it should.
     */
    lesson: {
      always: -2.2,
      language: 1.95,
      ruleFile: 1.25,
      rejected: 1.5,
      standing: 1.5,
      followsRules: 1.2,
      process: 1.15,
      faults: 1.15,
      ruleFileUpdated: 0.95,
      reproaches: 1.05,
      changedFact: 0.95,
      admits: 0.75,
      grantsPointed: 0.65,
      ordersSteps: 1.1,
      refuses: 0.45,
      sets: 0.6,
      lessens: 0.65,
      grants: 0.4,
      forbids: 1.3,
      redonePointed: 0.75,
      apologises: 1.0,
      pointsOut: 0.3,
      again: 0.45,
      firm: 0.6,
      exists: 0.75,
      standingFirst: 0.5,
      addresses: 0.5,
      bars: 0.6,
      takesOn: 0.3,
      saysNo: 0.45,
      takenOn: 0.1,
      brief: 0.5,
      custom: 0.35,
      requires: 0.5,
      work: -0.1,
      tellsYou: 0.5,
      directs: 0.25,
      interrupted: -0.2,
      queued: 0.05,
      questionBlaming: 0.3,
      redone: 0.05,
      questionGranted: -0.65,
      productToo: -0.15,
      requirement: -1.6,
      answers: -0.35,
      agrees: -0.2,
      long: -0.05,
      wish: -0.6,
      asksToo: -0.65,
      bug: -0.8,
      grantsBug: -0.45,
      grantsProduct: -0.8,
      taste: -1.15,
      product: -2.3,
      question: -1.55,
      specification: -1.3,
      tiny: -1.05,
      passes: -3,
      empty: -3.05,
    },
    /** What each sign adds to the log-odds that a sentence is an order to keep. */
    instruction: {
      always: -2.6,
      savesAs: 4.5,
      standing: 2.1,
      standingFirst: 0.8,
      ordersAlways: 2.6,
      remembers: 2.3,
      ruleFile: 2.3,
      ruleFileUpdated: 1.6,
      changedFact: 1.4,
      language: 3.4,
      process: 1.7,
      firm: 0.6,
      addresses: 0.4,
      work: 0.4,
      product: -1.4,
      takenOn: 0.5,
      wish: -0.6,
      bug: -1.2,
      opening: -0.3,
      long: -0.3,
      specification: -1.2,
    },
    /** What each sign adds to the log-odds that a sentence states a rule of the project. */
    convention: {
      always: -3.1,
      custom: 1.3,
      customRule: 0.7,
      followsRules: 1.9,
      ruleFile: 0.8,
      pointsOut: 1.2,
      ordersSteps: 0.8,
      firm: 0.5,
      forbids: 0.6,
      requires: 0.4,
      work: 0.4,
      product: -1,
      passes: -1.2,
      bug: -1,
      takenOn: 0.5,
      long: -0.4,
      specification: -1.5,
    },
  },
  recall: {
    /** Most answers to one question. */
    most: 3,
    /** Findings that are looked at for one question: of an error that is met everywhere, this project's and the latest. */
    findings: 24,
    /** Words of a call by which it is looked up, and characters of each. */
    callWords: 20,
    wordChars: 200,
    /** Characters of a text that are listened to. */
    textChars: 4_000,
    /** Projects that are searched for a text when it is asked in none of them, the newest. */
    projects: 40,
    /** Words of a text that are looked up, the rarest. */
    words: 24,
    /** Entries of the index that looking for them may touch; what is commoner is left out. */
    lookedAt: 2_000,
    /** Findings that are looked at because they share words with a text, those that share most. */
    spoken: 20,
    /** How much is taken off for where a lesson was learned. */
    distance: { here: 1, anywhere: 1, elsewhere: 0.7 },
    /** How like two errors are that say the same of different names, where the fix has nothing to do with the name; too little to be told in another project. */
    shape: 0.7,
    /** How well a lesson fits a text that names its command or its file. */
    named: 0.7,
    /** Trust in a lesson of which nothing is sure; the rest is its confidence. */
    doubt: 0.4,
    /** What each further session that taught it adds, and how many count. */
    again: 0.05,
    agains: 3,
    /** What is left of the score where what is told got past the failure but was never seen to end well. */
    unseen: 0.7,
    /** Score from which an answer is given at all, by what it was recognised by. */
    offer: { error: 0.5, call: 0.6, words: 0.45 },
    /** The same for words, when somebody asks. */
    askedWords: 0.3,
    /** Sessions that must have taught a lesson before it is told ahead of a call. */
    warnAfter: 2,
    /** Score from which it is given whole. */
    load: 0.75,
  },
  search: {
    /** Characters of a body, and of a description, that are searched: what a long one says first is what it is about. */
    bodyChars: 6_000,
    toldChars: 4_000,
    /** Characters of a term, above which it is a key or encoded data; of a number that says something; and parts of a
     * compound, above which it is a path or a version. */
    termChars: 40,
    numberChars: 4,
    compoundParts: 3,
    /** Characters of a prompt that are read: its beginning and its end. */
    promptChars: 6_000,
    /** Characters of a prompt in a script without spaces of which words are translated. */
    promptHead: 400,
    /** What a sentence counts that asks nothing, where another one does; and what is pasted. */
    told: 0.5,
    pasted: 0.3,
    /** After so many terms one counts half as much as the first; and what any counts at least. */
    laterBy: 25,
    laterLeast: 0.4,
    /** What saying a term once more adds, and how often that counts. */
    again: 0.25,
    agains: 2,
    /** What other words for a term count, English words for one in another script, and where somebody asks. */
    alias: 0.15,
    translated: 0.5,
    context: 0.15,
    /** Share of all entries that may have a word which is only implied, and how many may in any case. */
    implied: { share: 0.1, atLeast: 100 },
    /** Terms of a query that are looked up, those that say most. */
    terms: 60,
    /** Words that none has to which shares of a shorter prompt are taken: who says little asks little. */
    leastTerms: 2.5,
    /** The power of how rare a term is: below 1, a rare word that stands there by chance does not outvote the rest. */
    rarity: 0.75,
    /** Occurrences, weighted by field, at which a term counts half of what it can. */
    saturation: 6,
    /** What body and headings count on their own, beside all fields together. */
    text: 0.3,
    /** What an occurrence counts in each field, and how much it loses where the field is longer than others. */
    fields: {
      name: { weight: 6, length: 0.3 },
      description: { weight: 4, length: 0.3 },
      when: { weight: 3, length: 0.2 },
      unfit: { weight: 0, length: 0 },
      headings: { weight: 1, length: 0.2 },
      body: { weight: 0.5, length: 0.75 },
      tags: { weight: 3, length: 0.1 },
      prompts: { weight: 4, length: 0.1 },
    },
    /** Entries of which it is looked up what speaks for them, and how many of their descriptions are read. */
    entries: 50,
    /** The same where only the best few are wanted. */
    closely: 10,
    described: 20,
    /** Characters of such a description. */
    descriptionChars: 1_200,
    /** Share of a quoted phrase from which it was said. */
    phraseShare: 0.6,
    /**
     * What each sign adds to the score: fitted to queries with known answers, held near the first of them, so that no
     * sign can turn the order around. Two are set by hand: what an entry says it is not for counts against it, though
     * who refuses something is often near it; and likeness counts where somebody brings an embedder.
     */
    weights: {
      base: 2.3,
      covered: 2,
      told: 1.5,
      body: 1.65,
      opening: 2.3,
      named: 1.1,
      quoted: 4,
      pointed: 3.6,
      rarest: 0.3,
      unfit: -1,
      likeness: 2,
    },
    /** What each sign adds to the log-odds that a match is right: fitted to libraries of 200 and of 2,000 skills. */
    gate: {
      always: -3.5,
      base: 0.42,
      covered: 2.7,
      named: 0.95,
      quoted: 3.25,
      baseLead: 2.07,
      coveredLead: 3.25,
      namedLead: 0.48,
      crowd: -0.63,
    },
    /** Entries from which a library is a crowd, where what fits well is more often one of several. */
    crowd: 2_000,
    /** Probability from which a skill is loaded of a library of `loadSize`, and how much more for ten times as many. */
    loadFrom: 0.68,
    loadSize: 200,
    loadCare: 0.05,
    /** Words of a prompt that it must have: one may be met by chance. */
    loadWords: 2,
    /** Share of what was asked that may stand in what it says it is not for. */
    unfitMost: 0.15,
    /** Share of what was asked that it must have in its name, description or when-to-use to be spoken of at all. */
    toldLeast: 0.12,
    /** Entries above which a skill is loaded only if it was of use before, and in how many sessions. */
    loadUpTo: 3_000,
    provenUses: 2,
    /** Probability from which a match is offered, unasked and to somebody who asks, and how many are. */
    offerFrom: 0.35,
    askedFrom: 0.15,
    offers: 3,
    /** Words that say why something matched. */
    reasons: 4,
  },
  show: {
    /** Characters of a lesson that is given whole, and of one in a list. */
    loadChars: 4_000,
    lineChars: 240,
    /** Characters that an agent is given at once; its own limit is 10,000. */
    contextChars: 9_000,
    /** Characters of everything that is told when a session starts. */
    startChars: 2_000,
    /** Lessons of a project that are told when a session starts, the surest. */
    startLessons: 8,
    /** Lessons among which what is new is looked for, the newest. */
    startNews: 40,
    /** Milliseconds after which a session that taught something is taken for ended. */
    sessionMs: 2 * 86_400_000,
    /** How sure a lesson must be before an agent is asked to write it down. */
    askFrom: 0.6,
    /** Milliseconds that the end of a turn waits for what was learned of it, where an agent may be asked. */
    askWaitMs: 3_000,
    /** Characters of a command, an error or a person's words that a snapshot keeps. */
    excerptChars: 400,
  },
  credit: {
    /** Characters of a text in which calls that it tells are looked for, and how many of them count. */
    textChars: 20_000,
    callsOfText: 40,
    /** Sessions in which a call was made without anybody having been told: from there on it is no sign of having been. */
    familiar: 3,
    /** Characters of a prompt that are kept with the use of a skill. */
    promptChars: 400,
    /** Milliseconds before the first record of a session in which it may have been told something. */
    aheadMs: 86_400_000,
    /** Distinct sessions with a good outcome after which a draft goes live, and bad ones after which it is a draft again. */
    goodSessions: 2,
    badSessions: 2,
    /** Prompts, and failures, of a session that are kept to compare it with others. */
    turns: 200,
    failures: 100,
    /** Prompts beyond those that are added up together. */
    turnsTogether: 20,
  },
  report: {
    /** How often an interval may miss the truth, however often it is looked at. */
    error: 0.05,
    /** Sessions on each side before anything is compared. */
    fewest: 5,
    /** The smallest difference that is worth knowing, as a share of the most that there could be. */
    worth: 0.2,
    /** Calls for one prompt beyond which more are no longer told apart. */
    callsPerPrompt: 50,
    /** Share of its wealth that a bet may lose. */
    boldness: 0.5,
  },
  work: {
    /** Milliseconds that a worker works at most, and for how long it then waits for more. */
    longestMs: 60_000,
    lingerMs: 400,
    /** Milliseconds that a worker waits for another that is about to end. */
    waitMs: 3_000,
    /** Times that it tries to handle a note before putting it aside. */
    tries: 3,
    /** Failures in a row after which a person is told when a session starts. */
    loudAfter: 3,
    /** Milliseconds between notes after which the older one should have been handled. */
    lateMs: 3_600_000,
    /** Days that what a session was told is remembered, and a recorded session without a transcript is kept. */
    seenDays: 7,
    recordedDays: 30,
    /** Days after which nobody is being asked any more what was written down for an agent: no call takes that long. */
    askedDays: 1,
  },
  doctor: {
    /** Milliseconds that a note may wait for a worker, and a transcript be ahead of what is known of it: a turn takes its time. */
    patienceMs: 600_000,
    /** Notes that lie in the spool when nobody looks at it any more. */
    notes: 1_000,
    /** Milliseconds for which an error of a hook is held against it. */
    errorMs: 86_400_000,
    /** Tellings that are looked for in their transcripts, the latest, and how far back. */
    tellings: 20,
    tellingsMs: 30 * 86_400_000,
  },
  skill: {
    /** What the names of learned skills begin with. */
    prefix: "rl-",
    /** Two skills whose names and descriptions overlap this much are about the same thing. */
    near: 0.5,
    /** Steps that two skills must share, and the share of the shorter one's, to do the same thing whatever they are called. */
    sharedSteps: 3,
    sameSteps: 0.7,
    /** Characters of a learned skill's description: agents put every description before every prompt. */
    descriptionChars: 160,
    /** Characters of a learned skill's body. */
    bodyChars: 4_000,
    /** Lines of any skill's body, after which it should be split. */
    bodyLines: 500,
    /** Pieces of evidence that a learned skill shows, the newest; the rest are counted. */
    evidence: 5,
  },
  gap: {
    /** Sessions that must have asked before there is a draft, and before it goes live. */
    draftAsks: 2,
    activeAsks: 4,
    /** Sessions that the draft must have been handed to before it goes live. */
    activeHits: 2,
    /** Sentences of a prompt among which the one that asks is looked for, and characters of one that is a person's. */
    sentences: 4,
    sentenceChars: 300,
    /** The same where no spaces part the words, so that fewer characters say as much. */
    unspacedChars: 60,
    /** How alike two asks must be to be one. */
    same: 0.45,
    /** Wordings of a gap that others are compared with, the first. */
    wordings: 12,
    /** What words count beside a rare one: commonplace ones, names, and those that only say for what or where. */
    weights: { common: 0.3, name: 0.4, aside: 0.6 },
    /** What the same thing as the object of both adds. */
    headBonus: 0.15,
    /** What is left where each names its work by another verb. */
    otherVerb: 0.6,
    /** Words, weighed, that an ask must have: to mend or remove something, and otherwise. */
    substance: { mending: 2.6, other: 1.3 },
    /** Prompts for which a task goes on when nothing else is asked for, and calls of it that are looked at. */
    turns: 12,
    calls: 400,
    /** Ways in which one session ran the same program that are looked at, the latest. */
    runs: 6,
    /** Sessions of which a draft is made, the newest. */
    sessions: 6,
    /** Share of those sessions that must have done something before it is a step; never fewer than two, where there are two. */
    most: 0.6,
    /** Things the sessions must have in common before there is anything to write down. */
    leastShown: 2,
    /** Of each that is told: steps, the person's words, failures, and what was another each time. */
    steps: 12,
    said: 5,
    failures: 4,
    particulars: 8,
    /** Characters of a prompt that is quoted, and of one that is kept. */
    quoteChars: 240,
    keptChars: 2_000,
  },
  curate: {
    /** Days without use, or since it was made, after which a skill is called stale, and after which it is put away. */
    staleDays: 30,
    archiveDays: 90,
    /** Sessions in which a skill did harm that send it back to being a draft, and a draft away. */
    harmful: 2,
    /** Sessions in which something was shown, and never helped, after which a person should have a look. */
    shownInVain: 5,
    /** Learned skills of one project, or of the person, that are live; and drafts. */
    live: 40,
    drafts: 40,
    /** Characters of the lines by which agents are told of the learned skills of one project, or of the person. */
    listingChars: 2_000,
    /** Characters of a description that was shortened because of that. */
    shortChars: 90,
    /** Days within which use, help or new evidence keep a skill from making room for others. */
    recentDays: 30,
    /** What makes a skill worth its place: each doubling of the sessions it helped in, was used in, did harm in; how sure it is; and how lately it was needed, half as much after so many days. */
    worth: { helpful: 1, used: 0.5, harmful: -1, sure: 0.5, recent: 1, halfDays: 30 },
  },
  evolve: {
    /** Instincts that make a cluster, how sure they must be on the average, and how many one holds. */
    fewest: 3,
    sure: 0.75,
    most: 24,
    /** How alike two occasions must be to belong together, and how much of that is being of the same field. */
    near: 0.35,
    field: 0.2,
    /** Instincts with the same word among which others like one are looked for, the surest. */
    crowd: 60,
    /** Sessions in which people must have asked for an action before it is a command, and the share of what they named that it must be about. */
    asked: 2,
    named: 0.6,
    /** Instincts about looking into something that make an agent. */
    looking: 4,
    /** Share of a cluster's members that were in something before, from which it is that again. */
    again: 0.5,
    /** Drafts that are made in one go without anybody having asked, the surest. */
    atOnce: 3,
  },
  library: {
    /** Projects whose skills are looked for: those that were worked in last. */
    projects: 40,
    /** Bytes of a file; no agent is given more, so a longer one is told of and not read. */
    fileBytes: 1_000_000,
    /** Folders below a root that are looked into: agents' trees are shallow, and a deep one is something else. */
    depth: 4,
    /** Things in one folder that are looked at; what is beyond was not put there by hand. */
    entries: 50_000,
    /** Files that are read at once. */
    atOnce: 16,
    /** Characters of a description that is taken from the text, where the front matter has none. */
    descriptionChars: 200,
    /** Characters of a name. */
    nameChars: 128,
    /** Prompts in which something was of use that it is found by, the latest. */
    prompts: 12,
    /** Milliseconds for which one process may be at the index, and for which another waits for it. */
    leaseMs: 60_000,
    waitMs: 3_000,
  },
  model: {
    /** US dollars that calls of models may cost in a day, and that one may. A day is the last 24 hours. */
    usdPerDay: 1,
    usdPerCall: 0.5,
    /** US dollars that an agent's program may cost beyond what was reckoned: it has words, thoughts and turns of its own. */
    agentUsd: 0.15,
    /** Calls in a day, whatever they cost: what has no price is bounded too. */
    callsPerDay: 200,
    dayMs: 86_400_000,
    /** Failures in a row after which no model is asked for a while, and for how long. */
    failuresToOpen: 5,
    openMinutes: 60,
    /** Milliseconds that a call may take. */
    timeoutMs: 10_000,
    /** Tokens of an answer. */
    outputTokens: 3_000,
    /** Characters that a model takes for one token at the least, and those that are not ASCII: what is not sent yet is rather thought dearer. */
    charsPerToken: 3,
    otherCharsPerToken: 1,
    /** US dollars for a million tokens of a model whose price nobody knows: a large one's; the few that are dearer are known. */
    unknownPrice: { input: 6, output: 30 },
    /** Characters of a session's record that one call is given, and candidates that it judges; calls for one session. */
    recordChars: 24_000,
    candidates: 12,
    calls: 2,
    /** Characters of one event in the record, and of a call's input. */
    eventChars: 700,
    inputChars: 300,
    /** Events of the outline beside the candidates' own, characters of each, and of all. */
    outlineEvents: 60,
    outlineEventChars: 240,
    outlineChars: 6_000,
    /** Findings of a model's own that are taken. */
    own: 3,
    /** Successful calls that a finding about a way of working must name. */
    leastCalls: { "multi-step": 4, "repeated-action": 2, "tool-pattern": 2 },
    /** The share of a lesson's words that must be a person's where a model says that the person said so. */
    saidWords: 0.3,
    /** Bytes of an answer, and of what an agent's program prints, that are taken; and characters of what either says of its failure. */
    answerBytes: 4_000_000,
    failureChars: 200,
    /** Characters of what a model says. */
    lessonChars: 500,
    triggerChars: 120,
    actionChars: 300,
    becauseChars: 200,
    /** How sure a model's word makes a finding, at least and at most, and one that only the model saw. */
    confidence: { least: 0.3, most: 0.9, own: 0.7 },
  },
  protocol: {
    /** Characters of what a person is shown, and of what an agent says a learning was about. */
    messageChars: 500,
    summaryChars: 1_000,
    /** Characters of a receipt in the agent's own words. */
    receiptChars: 300,
    /** Characters of the name of a skill that an agent writes. */
    name: { shortest: 3, longest: 64 },
    /** Characters of what is said of a refusal, and of each thing of it; and how many of those are told. */
    faultChars: 600,
    details: 30,
    /** Characters of a name or a code that are looked at, whatever it is. */
    codeChars: 100,
    /** Events that one call may name, and receipts of one reply. */
    refs: 50,
    receipts: 20,
    /** Characters of a whole reply. */
    replyChars: 1_000_000,
    /** Files of a package that an agent writes, bytes of one, and of all. */
    files: 40,
    fileBytes: 200_000,
    packageBytes: 1_000_000,
    /** Characters of the path of a file in it. */
    pathChars: 100,
    /** How many times that a folder may hold before it is not even read. */
    unread: 20,
    /** Events that are listed for an agent that names none, and characters of each line. */
    listed: 40,
    lineChars: 160,
    /** Events that are expanded at once, and characters of each. */
    expanded: 20,
    expandedChars: 5_000,
    /** Milliseconds that a call waits for its own line in the transcript, by which the session is known; and between two looks. */
    waitMs: 2_000,
    lookMs: 25,
    /** Milliseconds in which no other session may turn up that makes the same call: agents write down what they do a tenth of a second late. */
    settleMs: 300,
    /** Events that are read at once where a session is searched for what its agent wrote. */
    searched: 500,
    /** Where it looks for that line: in so many folders of projects, so many files of the latest, so many bytes at the end of each. */
    foldersSearched: 5,
    filesSearched: 12,
    endBytes: 512_000,
    /** Bytes at the end where what is looked for may lie further back: a call that much was written after, the head of a file. */
    furtherBytes: 64_000_000,
    /** The same in a database of sessions: the latest so many, and of each the last so many messages. */
    sessionsSearched: 20,
    messagesSearched: 5,
    /** Milliseconds by which the time of a file's last change may be early: some disks count in seconds. */
    stampMs: 2_000,
    /** Folders below the agent's own in which a transcript that is named after its session may lie. */
    foldersDeep: 4,
    /** Characters of a skill, or of one of its files, that an agent is handed; and skills that are listed at once. */
    loadedChars: 40_000,
    skillsListed: 200,
    /** Milliseconds between what a person is told of a call and its answer. */
    tellMs: 50,
    /** Milliseconds that a server whose host is gone takes to end what it was doing. */
    endMs: 3_000,
    /** Days after which what was staged and never finished is put away. */
    stagingDays: 7,
  },
  signal: {
    /** Events that a signal must name, and that one of a person's explicit request must. */
    refs: 2,
    refsOfRequest: 1,
    /** Signals that are derived from one turn, and turns after a skill's first use in which a correction is taken to be about it. */
    perTurn: 3,
    turnsAfterUse: 3,
    /** Milliseconds without an event after which a session's last turn is taken to be over. */
    quietMs: 60 * 60_000,
    /** Characters that are kept of what has not the form of a signal. */
    words: 500,
  },
  nudge: {
    /** Tool calls since the last review from which one is worth it. */
    calls: 15,
    /** Milliseconds between two reviews, and how many there are in a day at the most. */
    apartMs: 30 * 60_000,
    perDay: 12,
    /** Sessions that one review looks at, the latest; others wait for the next. */
    sessions: 30,
  },
  review: {
    /** US dollars that one review may cost, all its calls together. */
    usd: 0.5,
    /** Milliseconds that one call of a reviewer may take, and tokens of its answer. */
    timeoutMs: 120_000,
    outputTokens: 6_000,
    /** Milliseconds that one review may take in all. */
    longestMs: 300_000,
    /** Events, and characters, of a dossier; and of its timeline. */
    events: 400,
    chars: 60_000,
    timeline: 400,
    /** Characters of one event in a dossier; and of each where there are many: of what people said, what went wrong or is pointed to, and of the rest. */
    eventChars: 1_500,
    mainChars: 450,
    leastChars: 200,
    /** Calls after a failure within which a call like it is another try. */
    retryCalls: 30,
    /** Stretches of omitted events that a dossier tells of, characters about each, and of what stands around those. */
    spans: 40,
    summaryChars: 160,
    spanChars: 130,
    /** Characters of the names and line ends that a dossier has more of when it is put before a model; and of those before a gate. */
    formChars: 200,
    frameChars: 60,
    /** Where events do not fit they are told in this share of their words, and again; descriptions in half, down to so many characters. */
    shrink: 0.8,
    leastDescription: 20,
    /** Characters from which a text that is cut says how much is left out. */
    leastShortened: 80,
    /** Characters of a name in a dossier, of a tool's, and of a ref that may be none; and tools that a stretch is told by. */
    nameChars: 80,
    toolChars: 60,
    refChars: 24,
    tools: 4,
    /** What a review may come to at the most, signals that it is told, events that one of them names, and characters of its words. */
    leads: 6,
    signals: 12,
    refs: 12,
    hintChars: 120,
    whyChars: 400,
    /** Characters that are put before the model of the gate, and of one event there; and tokens of its answer. */
    gateChars: 12_000,
    gateEventChars: 400,
    gateTokens: 400,
    /** A finding this sure may be what a review comes to. */
    sure: 0.5,
    /** A skill whose name and description overlap this much with a finding's is the place for it: being about the same subject is enough. */
    near: 0.25,
    /** Shares of a dossier's characters: for signals and leads, the texts of skills, the names of their other files, the list of skills, and events of which only the index tells. */
    shares: { told: 0.15, texts: 0.3, files: 0.05, skills: 0.15, timeline: 0.1 },
    /** Skills that are named, and characters of each description; and of a text that may be changed. */
    skills: 200,
    descriptionChars: 160,
    textChars: 12_000,
    /** How often a reviewer may ask for more of some events, how many, and characters of each. */
    expansions: 2,
    expanded: 12,
    expandedChars: 3_000,
    /** Files of a skill that are named beside its text; and how many of what is asked for may be such files, and characters of each. */
    listedFiles: 60,
    expandedFiles: 4,
    expandedFileChars: 6_000,
    /** What one review may propose, how much of an answer without end is looked at for that, and the files of one. */
    drafts: 2,
    draftsRead: 20,
    files: 8,
    /** Edits of one patch, and characters of a text that one takes out or puts in; and of a file that is new. */
    edits: 12,
    editChars: 4_000,
    fileChars: 20_000,
    /** The share of a skill's words that a change must leave to be made without anybody's yes. */
    mostlyLeft: 0.5,
    /** Sessions of a project whose turns and calls its usual ones are reckoned from, at least. */
    baseline: 20,
    /** How often one is begun that never ends, and how often what it is about is looked at when it fails. */
    tries: 3,
    /** Characters of what the ledger has of why one ended as it did. */
    endChars: 1_000,
  },
  rule: {
    /** Characters of one rule line. */
    chars: 300,
    /** Two rules whose words overlap this much are one. */
    near: 0.5,
  },
} as const;

export type Policy = typeof policy;
