/** Every ceiling in the product, with its reason. Sizes in bytes or characters, times in milliseconds. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

export const LIMITS = {
  /** Model requests in one turn; mini-swe-agent and the rest stop between 40 and 250. */
  stepsPerTurn: 50,
  callsPerTurn: 100,
  /** More calls than this in one answer are a broken model. */
  callsPerStep: 16,
  /** Calls of one step that only read run side by side. */
  readsAtOnce: 4,
  /** Model and command time of one turn; waiting for a person does not count. */
  activePerTurn: 30 * minute,
  /** Tokens of all requests of one turn, and of one thread. */
  tokensPerTurn: 2_000_000,
  tokensPerThread: 10_000_000,
  /** How long the sums of one day are kept, and what each request was booked with. */
  spentTime: 48 * hour,
  /** Tokens, and millionths of a dollar, that one request may be booked with: more is nonsense, and would break the sum. */
  spentMost: 1_000_000_000_000,

  /** A command's time when the model asks for none, and the most it may ask for. */
  commandTime: 120 * second,
  commandTimeMax: 600 * second,
  /** Linux takes 128 kB in one argument; the rest of the command line needs room too. */
  commandBytes: 100_000,
  /** The gate does not parse more than this; longer lines ask. */
  gateBytes: 16_384,

  /** What is kept of a command's output in the log, notes included: bytes of the beginning and of the end. */
  outputHead: 16_000,
  outputTail: 48_000,
  /** What reaches the model of one result, in bytes: a quarter from the beginning, the rest from the end. */
  outputModel: 32_000,
  /** The whole output is kept up to here, for the file in the thread. */
  outputFile: 1_000_000,
  outputFileTtl: 7 * 24 * hour,
  /** What is read of a repository's AGENTS.md, and what the model is told of it, in bytes. */
  notesRead: 16_000,
  notesTold: 8_000,
  /** More than this is a flood: the command is ended. */
  outputFlood: 64_000_000,
  /** Characters of one line. */
  outputLine: 2_000,
  /** The live view of a running command: at most this much, this often. */
  liveBytes: 4_096,
  liveEvery: 100,
  /** What a thread sees of that: not before a command has printed for so long, told at most so often, and a status made anew at
   * most so often (all threads that share a budget together); of how many threads it is kept, and how much a status shows. */
  liveFrom: 1 * second,
  liveTell: 500,
  liveRing: 3 * second,
  liveThreads: 200,
  liveLines: 6,
  liveLine: 160,
  liveShown: 500,
  /** After a command's end: how long output that something still holds open is read. */
  outputDrain: 250,
  /** After a stop: when the gentle way has not ended everything, the process group goes too. */
  stopGrace: 500,
  /** How long what stands around a command may take to be set up (milliseconds are usual); it holds the workspace meanwhile. */
  commandSetUp: 30 * second,

  /** Sandboxes that one runner sets up ahead (each holds two processes and about 0.3 MB), how long one waits for its command (a model
   * goes on within seconds, and whoever waits for a person holds none), and after how long it makes room for another when all are taken. */
  spareSandboxes: 16,
  spareTime: 1 * minute,
  spareSettled: 5 * second,
  /** One that does not stand by then is not waited for: its command starts anew. */
  spareStands: 1 * second,

  /** Walls of one command: processes, open files, bytes of one file, bytes of memory of one process, seconds of CPU, bytes of shared memory. */
  commandProcesses: 256,
  commandFiles: 1_024,
  commandFileSize: 1_073_741_824,
  commandMemory: 2_147_483_648,
  commandCpu: 600,
  commandShm: 67_108_864,
  /** The same for all processes of one command together, where the machine has cgroups for us: bytes of memory; processes and
   * threads, those around the command included. */
  commandMemoryTotal: 4_294_967_296,
  commandTasks: 288,

  /** What carries over from one command to the next: bytes of its folder's path; exported variables, and their bytes together. */
  carriedFolder: 4_096,
  carriedVariables: 200,
  carriedBytes: 65_536,

  /** What a conversation may keep in /tmp and its home, and how often that is looked at. */
  stateQuota: 2_000_000_000,
  stateMeasure: 1 * minute,
  /** Output of a command whose worker died is kept for its successor. */
  spoolTime: 24 * hour,
  /** Looking through a workspace for what runs by itself. */
  inspectTime: 20 * second,
  /** How many things are looked at, and seconds of work; how many of them are kept read-only (each mount takes about half a
   * millisecond, the rest is told afterwards), and how many changes are told one by one. */
  inspectThings: 2_000,
  inspectWork: 5,
  inspectKept: 100,
  inspectTold: 10,
  /** After a stop: how long that look may wait for a workspace that somebody else has by now. */
  stoppedLook: 1 * second,
  /** How often the sandbox is measured again, and folders of conversations that are long over are looked for. */
  selfTestEvery: 1 * hour,
  retention: 30 * 24 * hour,

  /** One run's network: different attempts that are told, connections at once (each is a process inside), waiting for a name and a connection, silence on one. */
  networkAttempts: 100,
  networkConnections: 64,
  networkConnect: 15 * second,
  networkIdle: 5 * minute,

  /** What a post shows of a command and of its output, and a card of its command and of the model's words; the rest is a file. */
  postCommand: 1_000,
  postOutput: 2_400,
  postHosts: 10,
  cardCommand: 2_400,
  cardSaid: 1_200,
  /** Commands that wait share one post, with so much of each: the first of these with which it is one message. */
  folded: [3_500, 1_200, 500, 250, 120],
  /** So much of each must be seen, or they do not travel in the message of what they stand before. */
  foldedFair: 500,
  /** What a card must still have room for when it carries what stands before it: who decided, and why. */
  cardRoom: 300,
  /** Posts and edits of one thread: two at once, then one a second. Cards wait for nothing. */
  paceBurst: 2,
  paceEvery: 1 * second,
  /** A send follows its note within this time, or the note is made again (where Redis is slow, so often): far less than a lock lasts. */
  noteFresh: 300,
  noteTries: 3,
  /** Tries of a send whose outcome stays unknown, a minute apart at the end, before its form is held to be the cause. */
  doubtfulTries: 20,
  doubtfulWait: 2 * second,
  doubtfulWaitMax: 60 * second,
  /** How long a platform may be unable to tell whether a send has happened before it is sent again with a note. */
  doubtfulLook: 2 * minute,
  /** How long an answer of the model waits, at most, to be kept together with the start of its command: that saves a write. */
  startAlong: 20,
  /** A worker rings at once for what people wait for, and for the rest at most this often in the same thread. */
  ringEvery: 300,
  /** Of how many characters of entries a gateway keeps what it has read, so that a thread is not read anew for each post. */
  knownEntries: 32_000_000,
  /** For how long a workspace that is served is taken to be still. */
  servedFresh: 1 * second,
  /** A gateway rings while what it rings for is on its way into the log; took that longer, it rings again. */
  ringLate: 100,
  /** How long after a press its card is edited: long enough for the command to have started. */
  cardAfter: 40,
  /** A ring for a thread of a platform that this gateway does not serve is passed on after this long. */
  postElsewhere: 500,

  /** How long a rule holds that was stored by "always", and the characters of its words: a card shows them all. */
  ruleTime: 30 * 24 * hour,
  ruleWords: 300,
  /** Commands of a workspace that are kept to tell what a rule would have let through, for how long, and how many a card names. */
  recentCommands: 100,
  recentTime: 30 * 24 * hour,
  cardThrough: 5,
  /** What is judged within this time is noted together. */
  noteAfter: 100,

  /** Files that come with one message, bytes of a text and of a picture, and of all pictures of a thread: the model gets them with
   * each request. How long their bytes are kept, and how long one may take to be fetched. */
  filesPerMessage: 5,
  fileText: 1_000_000,
  filePicture: 5_000_000,
  filePictures: 20_000_000,
  fileTtl: 7 * 24 * hour,
  fileTime: 20 * second,
  fileTries: 3,
  /** Messages whose files are fetched at once, and when that is begun anew after a gateway that died. */
  filesAtOnce: 4,
  filesAgain: 20 * second,

  approvalTime: 24 * hour,
  /** How long a late click on an old card still gets its answer. */
  approvalMemory: 90 * 24 * hour,
  /** Longer than the backfill looks back, so that what it brings late is still known. */
  seenTime: 48 * hour,
  /** How far back messages are looked for after an absence. */
  backfillHorizon: 24 * hour,

  /** Waiting for the model's first byte, and between two pieces of its answer. */
  modelFirstByte: 300 * second,
  modelIdle: 120 * second,
  /** Characters of one answer, thoughts and arguments included; more is an endpoint that does not end. */
  modelAnswer: 32_000_000,
  /** Calls of one answer, and items of one answer or parts of an item; more is an endpoint that does not end. */
  modelCalls: 256,
  modelItems: 512,
  modelTries: 4,
  modelRetryBase: 1 * second,
  modelRetryMax: 30 * second,
  /** A longer `retry-after` ends the turn instead. */
  modelRetryAfterMax: 10 * minute,
  /** What an endpoint's refusal taught us holds so long (servers are updated), with so many characters of its words. */
  learnedTime: 30 * 24 * hour,
  learnedReason: 300,
  /** Asking an endpoint for its list of models; how long a request waits for that, and how long the answer holds. */
  modelList: 10 * second,
  modelListWait: 500,
  modelListTime: 10 * minute,

  /** When Deckhand is stopped: how long running commands may go on, and how long what then was told to let go may take to end. */
  graceTime: 20 * second,
  handlerEnd: 5 * second,
  /** ... and how long arrivals under way may take to be kept. */
  hearingEnd: 5 * second,
  /** ... and how long what is due may still be posted. */
  lastPosts: 2 * second,
  /** BullMQ's lock and its check; `lock / 3` is our own heartbeat. */
  lock: 10 * second,
  stalledCheck: 3 * second,
  /** Takeovers without progress before a conversation counts as poisoned. */
  takeoversWithoutProgress: 3,
  /** One whose worker died is taken up alone until it gets on, or for so long: what kills a worker does so soon. */
  suspectTime: 10 * second,
  /** Conversations of one workspace at once; nearly all of them wait for the model, and a command that changes something for its turn. */
  wakesAtOnce: 200,
  postsAtOnce: 20,
  /** A wake that throws is rung again: so often, and after at most this long (a wake that comes meanwhile waits with it). */
  wakeTries: 10,
  wakeRetryMax: 30 * second,
  wakeRetryRedis: 3 * second,
  /** How long an act waits for a lost connection to come back, and for its answer, before it says REDIS_DOWN. */
  redisReturn: 2 * second,
  redisAnswer: 5 * second,
  /** How often a running process looks how its Redis stands, and how often it says again what still is wrong with it. */
  redisLook: 5 * second,
  redisRemind: 1 * hour,
  /** Share of `maxmemory` from which on the log warns, and from which on no new task is taken: what runs needs the rest. */
  redisWarn: 0.7,
  redisFull: 0.85,
  /** What is due later than this was marked by a clock that was set back since; nothing of ours waits so long on purpose. */
  clockAhead: 10 * minute,
  /** A thread whose budget is empty for longer than this is looked at again meanwhile. */
  postWaitMax: 5 * minute,
  /** A lost wake is healed after this long. */
  sweepAge: 10 * second,
  sweepEvery: 1 * second,
  /** The same failure of a sweep is told again after so long. */
  sweepRemind: 1 * minute,
  /** A stop works within a second even when its hint is lost. */
  stopPoll: 400,

  /** A host keeps its workspaces for so long after its last worker there ended; workers renew that six times as often. */
  claim: 60 * second,
  /** A worker counts as there for so long after its last beat; it beats three times as often. Both scale with DECKHAND_LOCK_MS. */
  presence: 15 * second,

  /** Who hears Discord holds this lease and renews it three times as often; without it another process takes over. */
  lease: 10 * second,
  /** How often the others look: until one of them hears, a press comes to nobody. */
  leaseLook: 1 * second,

  /** Tokens of a budget that each kind of post leaves for those before it: fewer than any burst, so that all get their turn. */
  laneKeep: { approval: 0, answer: 1, output: 2, status: 3 },
  /** Slack: about one post a second and channel, short bursts tolerated; chat.update is tier 3 (50 a minute a workspace), files
   * tier 4 (100). */
  slackPostBurst: 5,
  slackPostPerSecond: 1,
  slackEditBurst: 5,
  slackEditPerSecond: 40 / 60,
  slackFileBurst: 10,
  slackFilePerSecond: 80 / 60,
  /** Discord: sends and edits of one channel share about 5 in any 5 seconds; the SDK knows the figures of the moment. What is not
   * urgent has no more than 3 of them, so that a card finds room. All calls together: 50 a second. */
  discordPostBurst: 5,
  discordPostPerSecond: 1,
  discordQuietBurst: 3,
  discordQuietPerSecond: 3 / 5,
  discordAllBurst: 40,
  discordAllPerSecond: 40,
} as const;
