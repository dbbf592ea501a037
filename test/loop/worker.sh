# A worker of the loop: `sh worker.sh <folder>`. It answers what a worker of its role would that has nothing of its own
# to say; where the folder's script.json says something for the role, worker.mjs does it. (A shell starts in a tenth of
# the time that Node takes.)
folder=$1
task=$(cat)
set -- "$folder"/calls/*
[ -e "$1" ] || shift
printf '%s\n' "$task" > "$folder/calls/$#.$$"

# The text that follows a name in the task.
find_text() {
  found=${task#*"\"$1\":\""}
  found=${found%%\"*}
}

find_text role
role=$found
check='{"kind":"file-exists","path":"done.txt"}'
steps="\"steps\":[{\"id\":\"s1\",\"kind\":\"work\",\"description\":\"write done.txt\",\"successSignal\":$check}]"
case $role in
  explorer)
    find_text topic
    answer="{\"topic\":\"$found\",\"gatheredAt\":1,\"data\":{\"met\":true,\"because\":\"I looked\"},\"flags\":[]}"
    ;;
  strategist)
    criteria="[{\"id\":\"c1\",\"text\":\"the file is there\",\"check\":$check}]"
    answer="\"approach\":\"write it down\",\"rationale\":\"it is short\",\"successCriteria\":$criteria"
    answer="$answer,\"timingPosture\":\"early-return\""
    case $task in *'"steps":{'*) answer="$answer,$steps" ;; esac
    answer="{$answer}"
    ;;
  planner) answer="{$steps}" ;;
  step-worker)
    step=${task#*'"stepSpec":{"id":"'}
    report='"status":"success","outputsWritten":["done.txt"],"summary":"wrote it"'
    answer="{\"stepId\":\"${step%%\"*}\",$report}"
    ;;
  analyst) answer='{"successCriteriaMet":"yes"}' ;;
  *) answer='{}' ;;
esac

case $(cat "$folder/script.json") in
  *"\"$role\":"* | *"\"$role "*)
    printf '%s\n' "$task" | STANDARD=$answer exec node "${0%.sh}.mjs" "$folder"
    exit
    ;;
esac

find_text workspaceDir
[ "$role" = step-worker ] && echo done > "$found/done.txt"
find_text outputPath
printf '%s' "$answer" > "$found"
echo "{\"summary\":\"$role done\",\"usd\":0}"
