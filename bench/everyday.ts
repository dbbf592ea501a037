/** What people say to an agent all day long, for which no skill is needed: to load one would be in the way. */
export const everyday: readonly string[] = `what is the capital of France
thanks, that works
yes, go on
continue
explain this function to me
why does this fail?
run the tests
commit this with a good message
rename the variable count to total
what time is it in Tokyo
hello
can you undo the last change
who wrote this file
tell me a joke about cats
fix the typo in the readme
what does this error mean?
open the file and show me line 40
I think we should take the second option
no, not like that, use a map instead
let's move on to the next step
is this thread safe?
remove the console.log statements
add a comment above the loop
how many lines does main.ts have
translate "good morning" into Italian
where is the config loaded?
make the button blue
the sidebar overlaps the header on small screens
bump the version to 1.4.2
what did we do yesterday
please summarise the conversation so far
it still crashes when I click save
why is the sky blue
recommend a good book about the sea
which of these two functions is faster
delete the branch feature/login
add a field birthday to the user type
sort the list by date, newest first
use tabs instead of spaces
what is 17 times 23
好的，继续
这个函数是做什么的
把按钮改成蓝色
谢谢
今日の天気は？
このエラーは何ですか
はい、お願いします
arregla el error de la línea 12
gracias, funciona
¿qué hace esta clase?`.split("\n");
