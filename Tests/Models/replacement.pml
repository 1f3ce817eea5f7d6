/*
 * The protocol by which processes open, replace and close the data file of an environment
 * (decision 0060), for Spin. `Tests/Models/check` checks all interleavings of these steps, with
 * a kill of a process before each of them; a stopped process is one that makes no step for long.
 *
 * A step `@name` is the case of that name in Sources/LMDB/ReplacementStep.swift, and the check
 * compares the two lists. The steps between `@openEnvironment` and `@compareEnvironment` are those
 * of mdb_env_open in LMDB 0.9.
 *
 * The checked properties are the assertions: an open environment has the file that is named data.mdb,
 * each read and write begins with the last commit, so none is lost and nothing is initialised again,
 * and no process waits without end (Spin reports an invalid end state).
 *
 * Macros of the configuration: READERS, WRITERS and REPLACERS are numbers of processes, and KILLS is
 * the number of kills. With MIGRATES the new file has commits of its own, as after a migration, a
 * repair or a rollback; without, it is a compacted copy. FOREIGN adds a program with a plain LMDB that
 * opens the environment read-only, and DELETER a user who deletes the lock file. NO_SHARE, NO_NUMBER
 * and NO_ANNOUNCE take steps out, and the check must then find an error.
 */

#ifndef READERS
#define READERS 1
#endif
#ifndef WRITERS
#define WRITERS 1
#endif
#ifndef REPLACERS
#define REPLACERS 1
#endif
#ifndef KILLS
#define KILLS 1
#endif

/* Data files: data.mdb is the name of one of them. */
#define FILES (REPLACERS + 1)
byte path = 0;
byte files = 1;

/* Each has two meta pages, with the number of a commit and the number of objects in it. */
byte number[2 * FILES];
byte objects[2 * FILES];
#define newest(f) (2 * (f) + (number[2 * (f)] < number[2 * (f) + 1]))

/* Our lock on each data file, and the lock files that its openers have announced. */
byte shares[FILES];
bool claimed[FILES];
#define announced(f, l) announcements[2 * (f) + (l)]
byte announcements[2 * FILES];

/* Lock files: lock.mdb is the name of one of them, or does not exist. */
#define NONE 2
byte lockPath = NONE;
byte lockFiles = 0;
byte lockShares[2];
bool lockClaimed[2];
bool valid[2];
byte last[2];

/* The objects of all commits whose writer was told that they succeeded. */
byte acknowledged = 2;
byte kills = KILLS;

inline openLockFile(l) {
  if
  :: lockPath == NONE -> assert(lockFiles < 2); lockPath = lockFiles; lockFiles++
  :: else
  fi;
  l = lockPath
}

/* A process may be killed before the next step. */
#define mayDie if :: true :: kills > 0 -> kills--; goto killed fi

/* What the kernel does when a process closes its files or ends. */
inline closeLockFile() {
  if
  :: lock == 1 -> lockShares[k]--
  :: lock == 2 -> lockClaimed[k] = false
  :: else
  fi;
  lock = 0; k = 0; g = 0
}

inline closeDataFile() {
  if :: isAnnounced -> announced(f, l)-- :: else fi;
  if :: isShared -> shares[f]-- :: else fi;
  isAnnounced = false; isShared = false; f = 0; l = 0
}

/* The lock of LMDB: exclusive for the first process, which then writes the lock file. */
inline lockEnvironment() {
  atomic {
    if
    :: lockShares[k] == 0 && !lockClaimed[k] -> lockClaimed[k] = true; lock = 2
    :: else
    fi
  };
  if
  :: lock == 0 -> atomic { !lockClaimed[k] -> lockShares[k]++; lock = 1 }
  :: else
  fi
}

proctype Opener(bool writes) {
  byte f, l, g, k, t, lock;
  bool isShared, isAnnounced;

again:
  mayDie;
  /* @openDataFile */
  f = path;
#ifndef NO_SHARE
  mayDie;
  /* @shareDataFile */
  atomic { !claimed[f] -> shares[f]++; isShared = true };
  mayDie;
  /* @compareDataFile */
  if
  :: f != path -> d_step { closeDataFile() }; goto again
  :: else
  fi;
#endif
  mayDie;
  /* @announceLockFile */
  d_step { openLockFile(l) };
#ifndef NO_ANNOUNCE
  mayDie;
  d_step { announced(f, l)++; isAnnounced = true };
  mayDie;
  /* @compareLockFiles */
  if
  :: announced(f, 1 - l) > 0 -> goto closing
  :: else
  fi;
#endif
  mayDie;
  /* @openEnvironment */
  if
  :: writes ->
    d_step { openLockFile(k) };
    mayDie;
    lockEnvironment();
    mayDie;
    g = path
  :: else ->
    g = path;
    mayDie;
    d_step { openLockFile(k) };
    mayDie;
    lockEnvironment()
  fi;
  if
  :: lock == 2 ->
    mayDie;
    /* The lock region: the number is zero until the meta pages are read. */
    d_step { valid[k] = true; last[k] = 0 };
    mayDie;
    last[k] = number[newest(g)];
    mayDie;
    d_step { lockClaimed[k] = false; lockShares[k]++; lock = 1 }
  :: lock == 1 && valid[k]
  :: lock == 1 && !valid[k] -> d_step { closeLockFile() }; d_step { closeDataFile() }; goto again
  fi;
  mayDie;
  /* @compareEnvironment */
#ifdef NO_ANNOUNCE
#define isLockFile true
#else
#define isLockFile (k == l && k == lockPath)
#endif
  if
  :: g == f && g == path && isLockFile
  :: else -> d_step { closeLockFile() }; d_step { closeDataFile() }; goto again
  fi;
#ifndef NO_NUMBER
  mayDie;
  /* @compareCommitNumber */
  t = last[k];
  if
  :: t == number[newest(g)]
  /* The writer of the next commit has written the file, but not yet the lock file. */
  :: t > 0 && t + 1 == number[newest(g)] && t == number[2 * g + t % 2]
  :: else -> t = 0; d_step { closeLockFile() }; d_step { closeDataFile() }; goto again
  fi;
#endif
  mayDie;
  /* A transaction. Those that write exclude each other. */
#ifndef NO_NUMBER
  if
  :: writes && last[k] != number[newest(g)] -> goto closing
  :: else
  fi;
#endif
  d_step {
    t = last[k];
    assert(g == path);
    assert(objects[2 * g + t % 2] == acknowledged);
    if
    :: writes ->
      number[2 * g + (t + 1) % 2] = t + 1;
      objects[2 * g + (t + 1) % 2] = objects[2 * g + t % 2] + 1;
      last[k] = t + 1;
      acknowledged++;
      assert(objects[newest(path)] == acknowledged)
    :: else
    fi;
    t = 0
  };
closing:
  mayDie;
  /* @closeEnvironment */
  d_step { closeLockFile() };
  mayDie;
  /* @unshareDataFile */
killed:
  skip;
  d_step { closeLockFile(); closeDataFile(); t = 0 }
}

proctype Replacer() {
  byte f, n, k, g, lock;
  bool isClaimed, isNewClaimed;

  mayDie;
  f = path;
#ifndef NO_SHARE
  mayDie;
  /* @claimDataFile */
  atomic {
    if
    :: shares[f] == 0 && !claimed[f] -> claimed[f] = true; isClaimed = true
    :: else -> goto killed
    fi
  };
  mayDie;
  /* @compareClaimedFile */
  if
  :: f != path -> goto killed
  :: else
  fi;
#endif
  mayDie;
  /* @claimLockFile */
  d_step { openLockFile(k) };
  mayDie;
  atomic {
    if
    :: lockShares[k] == 0 && !lockClaimed[k] -> lockClaimed[k] = true; lock = 2
    :: else -> goto killed
    fi
  };
  mayDie;
  /* @invalidateLockFile */
  valid[k] = false;
  mayDie;
  /* @writeNewFile */
  d_step {
    n = files;
    files++;
#ifdef MIGRATES
    /* A migration has written the file in two commits, whose numbers the old file has, too. */
    number[2 * n] = 2;
    objects[2 * n] = 1;
    number[2 * n + 1] = 3;
#else
    /* A compaction: the only commit has the next odd number, and the other meta page is empty. */
    number[2 * n] = 0;
    objects[2 * n] = 0;
    number[2 * n + 1] = (number[newest(f)] + 1) | 1;
#endif
    objects[2 * n + 1] = objects[newest(f)]
  };
  mayDie;
  /* @claimNewFile */
  d_step { claimed[n] = true; isNewClaimed = true };
  mayDie;
  /* @renameNewFile */
  path = n;
  mayDie;
  /* @releaseLockFile */
  if
  :: k == lockPath ->
    d_step { valid[k] = true; last[k] = 0 };
    mayDie;
    last[k] = number[newest(path)]
  :: else
  fi;
  mayDie;
  d_step { closeLockFile() };
  mayDie;
  /* @unclaimDataFiles */
killed:
  skip;
  d_step {
    closeLockFile();
    if :: isNewClaimed -> claimed[n] = false :: else fi;
    if :: isClaimed -> claimed[f] = false :: else fi;
    isNewClaimed = false; isClaimed = false; f = 0; n = 0
  }
}

#ifdef FOREIGN
/* A program with a plain LMDB that opens the environment read-only, such as mdb_stat. What it reads is
   its own concern; it must not harm the others. */
proctype Foreign() {
  byte g, k, lock;

  g = path;
  mayDie;
  d_step { openLockFile(k) };
  mayDie;
  lockEnvironment();
  if
  :: lock == 2 ->
    mayDie;
    d_step { valid[k] = true; last[k] = 0 };
    mayDie;
    last[k] = number[newest(g)];
    mayDie;
    d_step { lockClaimed[k] = false; lockShares[k]++; lock = 1 }
  :: else
  fi;
killed:
  skip;
  d_step { closeLockFile() }
}
#endif

init {
  byte i;
  atomic {
    number[0] = 2; objects[0] = 2;
    number[1] = 1; objects[1] = 1;
    i = 0; do :: i < READERS -> run Opener(false); i++ :: else -> break od;
    i = 0; do :: i < WRITERS -> run Opener(true); i++ :: else -> break od;
    i = 0; do :: i < REPLACERS -> run Replacer(); i++ :: else -> break od;
#ifdef FOREIGN
    run Foreign();
#endif
    i = 0
  };
#ifdef DELETER
  /* A user deletes the lock file. */
  lockPath = NONE;
#endif
}
