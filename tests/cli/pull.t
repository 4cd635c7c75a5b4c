Models by name: pull, the cache, and -m OWNER/NAME. A server on loopback plays the hub.

# Q4_K_M is taken without being asked for; path on stdout; the cache as other tools lay it out.
$ . "$tests/hub.sh"; dllm pull test/plain | sed "s|$PWD/||"
> cd "$cache/models--test--plain"; cmp "snapshots/$commit/tiny-Q4_K_M.gguf" "$models/llada-Q4_K_M.gguf"
> cat refs/main; echo; readlink "snapshots/$commit/tiny-Q4_K_M.gguf"; find . -type f | sort; ls ../.locks/*
% python3
% curl
| .cache/huggingface/hub/models--test--plain/snapshots/0123456789abcdef0123456789abcdef01234567/tiny-Q4_K_M.gguf
| 0123456789abcdef0123456789abcdef01234567
|~ ../../blobs/*
|~ ./blobs/????????????????????????????????????????????????????????????????
| ./refs/main
|~ *.lock
! tiny-Q4_K_M.gguf: 1.36 MiB
! tiny-Q4_K_M.gguf: all there, checking its sha256
! tiny-Q4_K_M.gguf: complete

# A model that is there is found by name, by quant and by file, without asking the hub; a second pull
# fetches nothing.
$ . "$tests/hub.sh"; dllm pull test/plain:q8_0 2>/dev/null >/dev/null; dllm pull test/plain:Q8_0 | wc -l
> grep -c resolve requests.log; kill $hub_pid; wait $hub_pid 2>/dev/null; trap - EXIT
> for name in test/plain test/plain:Q8_0 test/plain/tiny-Q8_0.gguf; do dllm tokenize -m $name --no-chat a; done
> HF_HUB_CACHE=$cache HOME=/ dllm pull --offline test/plain | grep -o 'tiny.*'
% python3
% curl
| 1
| 4
| [64]
| [64]
| [64]
| tiny-Q8_0.gguf
! tiny-Q8_0.gguf: in the cache already

# Not there: the command that helps, or --pull.
$ . "$tests/hub.sh"; dllm tokenize -m test/plain:Q8_0 a; dllm tokenize --pull -m test/plain:Q8_0 --no-chat a 2>/dev/null
% python3
% curl
| [64]
! error: model test/plain:Q8_0 is neither a file nor in the cache of models; fetch it with "dllm pull test/plain:Q8_0", or add --pull
$ HF_HUB_CACHE=none dllm run -m llada hi
! error: model llada is neither a file nor in the cache of models; fetch it with "dllm pull llada", or add --pull
= 1
$ HF_HUB_CACHE=none dllm pull --offline dream
! error: model dream is not in the cache of models, and the hub is not asked: --offline or HF_HUB_OFFLINE forbids it
= 1
$ HF_HUB_OFFLINE=1 HF_HUB_CACHE=none dllm run --pull -m dream hi
! error: HF_HUB_OFFLINE forbids asking the hub for bartowski/Dream-org_Dream-v0-Instruct-7B-GGUF; unset it to fetch the model
= 2

# A folder inside the repository, a blank in its name.
$ . "$tests/hub.sh"; dllm pull test/nested 2>/dev/null | sed 's/.*snapshots.//'; dllm inspect test/nested:F16 | grep ^arch
% python3
% curl
| 0123456789abcdef0123456789abcdef01234567/sub dir/tiny-F16.gguf
| architecture: llada

# A split model comes whole, whichever part was named; one that lacks a part is refused.
$ . "$tests/hub.sh"; dllm pull test/split/big-Q4_K_M-00002-of-00002.gguf 2>/dev/null | grep -o 'big.*'
> cat $cache/models--test--split/snapshots/*/* | cmp - "$models/llada-Q4_K_M.gguf"; dllm pull test/holey
% python3
% curl
| big-Q4_K_M-00001-of-00002.gguf
! error: repository test/holey has not all parts of "big-Q4_K_M-00001-of-00003.gguf": part 2 of 3 is missing
= 1

# A quant or a file that is not there: what there is.
$ . "$tests/hub.sh"; dllm pull test/plain:Q5_K_M; dllm pull test/plain/x.gguf; dllm pull test/two; dllm pull test/empty
% python3
% curl
! error: repository test/plain has no GGUF file for Q5_K_M; it has Q4_K_M, Q8_0
! error: repository test/plain has no file "x.gguf"; it has Q4_K_M, Q8_0
! error: repository test/two has 2 models for Q4_K_M; name one of the files, such as test/two/a-Q4_K_M.gguf
! error: repository test/empty has no GGUF file; look for a repository with GGUF in its name
= 1

# A model that this build cannot run costs a megabyte, not three, and leaves nothing behind.
$ . "$tests/hub.sh"; dllm pull test/llama 2>&1 | tail -1; find "$cache" -name '*incomplete*'
> grep resolve requests.log | cut -d' ' -f2
% python3
% curl
|~ error: x-Q4_K_M.gguf: model architecture 'llama' is not supported; supported: llada, *
| bytes=0-1048575
| bytes=0-1048575

# Connections that are cut: every try goes on where the last one ended.
$ . "$tests/hub.sh"; dllm pull test/cut | wc -l; grep '^/cut' requests.log | cut -d' ' -f2
% python3
% curl
| 1
| bytes=0-1048575
| bytes=500000-
| bytes=1000000-
| bytes=1048576-
! tiny-Q4_K_M.gguf: 1.36 MiB
!~ tiny-Q4_K_M.gguf: *; trying again
!~ tiny-Q4_K_M.gguf: *; trying again
! tiny-Q4_K_M.gguf: all there, checking its sha256
! tiny-Q4_K_M.gguf: complete

# A pull that was ended is continued by the next one.
$ . "$tests/hub.sh"; touch hold; export cache; "$tests/interrupt.sh" -u '[ -n "$(find "$cache" -name "*.incomplete" -size +0)" ]' dllm pull test/slow; echo "$?"
> rm hold; size=$(stat -c %s "$cache"/models--test--slow/blobs/*.incomplete); [ "$size" -gt 0 ] && echo some
> dllm pull test/slow 2>/dev/null | wc -l
% python3
% curl
| 130
| some
| 1
! tiny-Q4_K_M.gguf: 1.36 MiB
! interrupted; what was fetched is kept, the next pull goes on from there

# Two pulls at once: one fetches, the other waits for it.
$ . "$tests/hub.sh"; touch hold; dllm pull test/slow 2>first.err >first & first=$!
> until_fetching slow; dllm pull test/slow 2>second.err >second & second=$!
> until grep -qs waiting second.err; do sleep 0.05; done; rm hold; wait $first $second
> cmp first second; cat second.err; grep -c '^/slow' requests.log
% python3
% curl
| tiny-Q4_K_M.gguf: another process is fetching it; waiting
| tiny-Q4_K_M.gguf: in the cache already
| 2

# A server that knows no ranges; one that is busy for a moment; one that stays away.
$ . "$tests/hub.sh"; dllm pull test/rangeless 2>/dev/null | grep -o 'tiny.*'; dllm pull test/busy 2>&1 >/dev/null | grep again
% python3
% curl
| tiny-Q4_K_M.gguf
| test/busy: The requested URL returned error: 503; trying again
| tiny-Q4_K_M.gguf: The requested URL returned error: 503; trying again
$ HF_ENDPOINT=http://127.0.0.1:1 HF_HUB_CACHE=c dllm pull a/b 2>&1 | tail -1
% curl
|~ error: asking http://127.0.0.1:1 for a/b failed: Failed to connect to 127.0.0.1 port 1*

# Contents that are not what the hub says, or that it says nothing about.
$ . "$tests/hub.sh"; dllm pull test/wrong 2>&1 | tail -1; find "$cache" -name '*incomplete*'; dllm pull test/unhashed; dllm pull test/nonsense
% python3
% curl
|~ error: "tiny-Q4_K_M.gguf" arrived damaged: its sha256 is *, the hub's is *; what was fetched is removed, pull it again
! error: the hub gives no sha256 for "tiny-Q4_K_M.gguf", so that it could not be checked; fetch it by hand and give its path instead
! error: the hub's answer is no list of files; check that HF_ENDPOINT, if set, is the address of a Hugging Face hub
= 1

# More than the disk holds.
$ . "$tests/hub.sh"; dllm pull test/huge 2>&1 | sed "s|$PWD/||"; grep -c resolve requests.log; true
% python3
% curl
|~ error: 1099511627776 MiB are still to be fetched, but ".cache/huggingface/hub" has room for * MiB; make room, or set HF_HUB_CACHE to a folder on a larger disk
| 0

# No such repository, private ones, and where the token goes: to the hub alone, and on no command line.
$ . "$tests/hub.sh"; dllm pull test/none 2>&1 | sed 's/1:[0-9]* /1:PORT /'; dllm pull test/gated; dllm pull test/forbidden 2>&1 | sed 's/:[0-9]*.test/:PORT\/test/'
> HF_TOKEN=hf_wrong dllm pull test/gated
% python3
% curl
| error: there is no repository test/none at http://127.0.0.1:PORT (status 404); check the name
| error: the hub does not give test/forbidden away (status 403); accept its conditions at http://127.0.0.1:PORT/test/forbidden, then set HF_TOKEN to a token of yours
! error: the hub does not show test/gated (status 401): there is no such repository, or it is private or gated; check the name, or set HF_TOKEN to a token of yours
! error: the hub does not show test/gated (status 401): there is no such repository, or it is private or gated and the token given does not open it
= 1
$ . "$tests/hub.sh"; mkdir -p .cache/huggingface; echo hf_right > .cache/huggingface/token
> mkdir bin; printf '#!/bin/sh\necho "$@" >> args\nexec %s "$@"\n' "$(command -v curl)" > bin/curl; chmod +x bin/curl
> PATH=$PWD/bin:$PATH dllm pull test/gated 2>/dev/null | wc -l; cut -d' ' -f3 requests.log; sort -u args
% python3
% curl
| 1
| token
| token
| -
| token
| -
| -q --config -

# What is no name, and a machine without curl.
$ for name in https://huggingface.co/a/b huggingface.co/a/b hf.co/a/b; do dllm pull $name; done; dllm run -m https://huggingface.co/a/b hi
! error: "https://huggingface.co/a/b" is an address; give the model's name alone, OWNER/NAME as in huggingface.co/OWNER/NAME
! error: "huggingface.co/a/b" is an address; give the model's name alone, OWNER/NAME as in huggingface.co/OWNER/NAME
! error: "hf.co/a/b" is an address; give the model's name alone, OWNER/NAME as in huggingface.co/OWNER/NAME
! error: "https://huggingface.co/a/b" is an address; give the model's name alone, OWNER/NAME as in huggingface.co/OWNER/NAME
= 2
$ for name in x /x/y a/b: a/b:Q4! a--b/c a/../b.gguf a/b/../c.gguf a/b/c.txt a/b.gguf; do dllm pull $name 2>&1; done | grep -c 'names no model; expected OWNER/NAME, OWNER/NAME:QUANT, OWNER/NAME/FILE.gguf, or one of the short names'
| 9
$ PATH=${PATH%%:*} HF_HUB_CACHE=c dllm pull a/b
! error: the program curl is missing; install it (Debian and Ubuntu: apt-get install curl)
= 1
$ dllm pull
! error: MODEL is missing: OWNER/NAME, OWNER/NAME:QUANT, OWNER/NAME/FILE.gguf, llada or dream
= 2

# Names that would leave the cache, say something to the terminal or not fit into a file system: left out,
# whatever type of weights they promise. Nothing lies outside the cache, and no control character is printed.
$ . "$tests/hub.sh"; dllm pull test/hostile 2>err | grep -o 'snapshots.*'; cat err
> dllm pull test/hostile:Q4_K_M; for name in ../../outside $'\e[31mred' $'c1\302\23331m' ~~; do
> dllm pull "test/hostile/$name-Q4_K_M.gguf" 2>>err || echo $?; done; LC_ALL=C grep -c $'[\001-\010\013-\037\177\233]' err
> find . -path ./.cache/huggingface/hub -prune -o ! -type d -print | sort; find "$cache" -type l | wc -l
% python3
% curl
| snapshots/0123456789abcdef0123456789abcdef01234567/good-Q8_0.gguf
| good-Q8_0.gguf: 1.36 MiB
| good-Q8_0.gguf: all there, checking its sha256
| good-Q8_0.gguf: complete
| 2
| 2
| 2
| 1
| 0
| ./err
| ./hub.log
| ./port
| ./requests.log
| 1
! error: repository test/hostile has no GGUF file for Q4_K_M; it has Q8_0

# A commit or a sha256 that is a path, a redirection to a name of control characters.
$ . "$tests/hub.sh"; dllm pull test/commit; dllm pull test/digest; dllm pull test/redirect 2>err; echo $?
> LC_ALL=C grep -c $'[\001-\010\013-\037\177\233]' err; find . -path ./.cache/huggingface/hub -prune -o ! -type d -print | sort
% python3
% curl
| 1
| 0
| ./err
| ./hub.log
| ./port
| ./requests.log
! error: the hub's answer is no list of files; check that HF_ENDPOINT, if set, is the address of a Hugging Face hub
! error: the hub gives no sha256 for "tiny-Q4_K_M.gguf", so that it could not be checked; fetch it by hand and give its path instead

# A list without an end, and one of hundreds of thousands of files in the order that is worst for sorting.
$ . "$tests/hub.sh"; dllm pull test/endless; dllm pull test/many
% python3
% curl
! error: the hub's list of files for test/endless is too long
! error: the hub gives no sha256 for "100001.gguf", so that it could not be checked; fetch it by hand and give its path instead
= 1

# The cache that other tools fill: names that a terminal would obey are no models; a commit that is a path is none.
$ export HF_HUB_CACHE=$PWD/c; folder=c/models--a--b; mkdir -p $folder/refs $folder/snapshots/0/d; printf 0 >$folder/refs/main
> touch $folder/snapshots/0/{$'\e[31mred-Q4_K_M.gguf',$'c1\302\23331m-Q4_K_M.gguf',$'d/\233x-Q4_K_M.gguf',ok-Q8_0.gguf}
> dllm pull --offline a/b | grep -o 'snapshots.*'; dllm pull --offline a/b:Q4_K_M; printf ../../outside >$folder/refs/main
> dllm pull --offline a/b
| snapshots/0/ok-Q8_0.gguf
! error: model a/b:Q4_K_M is not in the cache of models, and the hub is not asked: --offline or HF_HUB_OFFLINE forbids it
! error: model a/b is not in the cache of models, and the hub is not asked: --offline or HF_HUB_OFFLINE forbids it
= 1

# What the user types is shown without its control characters too.
$ dllm inspect $'\e]0;title\a'; dllm inspect $'c1\302\23331m\233'; dllm pull $'a/b/\e[31m.gguf'
! error: there is no file "?]0;title?"; the model must be the path of a GGUF file, OWNER/NAME[:QUANT] at the hub, llada, dream, or demo, the built-in one
! error: there is no file "c1??31m?"; the model must be the path of a GGUF file, OWNER/NAME[:QUANT] at the hub, llada, dream, or demo, the built-in one
! error: "a/b/?[31m.gguf" names no model; expected OWNER/NAME, OWNER/NAME:QUANT, OWNER/NAME/FILE.gguf, or one of the short names llada and dream
= 2

# Started by a program that has the ends of its children ignored, pull still learns how curl and sha256sum ended.
$ . "$tests/hub.sh"; ignoring="import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp('dllm', sys.argv[1:])"
> python3 -c "$ignoring" dllm pull test/none 2>&1 | sed 's/1:[0-9]* /1:PORT /'; python3 -c "$ignoring" dllm pull test/plain 2>/dev/null | grep -o 'tiny.*'
% python3
% curl
| error: there is no repository test/none at http://127.0.0.1:PORT (status 404); check the name
| tiny-Q4_K_M.gguf

# A curl that cannot run says why, or is said to be gone.
$ mkdir bin; export PATH=$PWD/bin:$PATH HOME=$PWD; unset HF_ENDPOINT HF_HUB_OFFLINE
> for end in 'echo "curl: no libssl.so" >&2; exit 127' 'kill -SEGV $$'; do
>   printf '#!/bin/sh\ncat > /dev/null\n%s\n' "$end" > bin/curl; chmod +x bin/curl; dllm pull a/b; done
! error: asking https://huggingface.co for a/b failed: curl: no libssl.so
! error: asking https://huggingface.co for a/b failed: the program curl was killed
= 1
