# What an interactive zsh makes of a command line when tab is pressed.
# usage: zsh -f complete.zsh FOLDER LINE    (FOLDER holds the file _dllm)
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -D; setopt no_auto_menu; echo READY"
zpty -r shell seen '*READY*READY*'
zpty -n -w shell "$2"$'\t'
for _ in {1..50}; do
    sleep 0.1
    while zpty -r -t shell chunk; do shown+=$chunk; done
    [[ -n $shown ]] && ((++quiet > 5)) && break
done
print -r -- "$shown"
