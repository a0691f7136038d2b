# One NewReno test of the E3 family in ns-2: listed packets are dropped in either direction of a slow link.
#
#   ns newreno.tcl key=value ...
#
# All keys come from newreno.py. Prints one line per data segment that leaves the sender: time and number.

foreach word $argv {
    set at [string first = $word]
    set opt([string range $word 0 [expr {$at - 1}]]) [string range $word [expr {$at + 1}] end]
}

Agent/TCP set rtxcur_init_ 6.0
Agent/TCP set minrto_ 1
Agent/TCP set updated_rttvar_ false
Agent/TCP set window_ 28
Agent/TCP set timestamps_ $opt(timestamps)
Agent/TCP set bugFix_ $opt(bugfix)
Agent/TCP set bugFix_ack_ $opt(ack_heuristic)
Agent/TCP set bugFix_ts_ $opt(ts_heuristic)
Agent/TCPSink set ts_echo_rfc1323_ $opt(rfc1323)
Agent/TCP/Newreno set newreno_changes1_ $opt(impatient)
Agent/TCP/Newreno set partial_window_deflation_ $opt(deflation)

set ns [new Simulator]
foreach n {sender router receiver} { set $n [$ns node] }
$ns duplex-link $sender $router 8Mb 0ms DropTail
$ns duplex-link $router $receiver 800Kb 100ms DropTail
$ns queue-limit $router $receiver 8
$ns queue-limit $receiver $router 8
foreach {from to list} [list $router $receiver $opt(drops) $receiver $router $opt(acks)] {
    if {[llength $list] == 0} { continue }
    set losses [new ErrorModel/List]
    $losses droplist $list
    $losses drop-target [new Agent/Null]
    $ns lossmodel $losses $from $to
}
set tcp [new Agent/TCP/Newreno]
set sink [new Agent/TCPSink]
$ns attach-agent $sender $tcp
$ns attach-agent $receiver $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set trace [open $opt(trace) w]
$ns trace-queue $sender $router $trace
$ns at 1.0 "$ftp start"
$ns at 6.0 "flush"
proc flush {} {
    global ns trace tcp
    $ns flush-trace
    close $trace
    puts "timeouts [$tcp set nrexmit_]"
    exit 0
}
# The phase of the agent's clock is the first draw; this seed gives 3 microseconds.
$defaultRNG seed 1
$ns run
