# One TCP transfer over a last hop that becomes another system at one moment, in ns-2, for comparison with Crosswind.
#
#   ns handover.tcl key=value ...
#
# Keys come from handover.py; none has a default here. Prints the arrival time and size of every packet at the mobile.

foreach word $argv {
    set at [string first = $word]
    set opt([string range $word 0 [expr {$at - 1}]]) [string range $word [expr {$at + 1}] end]
}

Agent/TCP set window_ $opt(window)
Agent/TCP set packetSize_ $opt(segment_bytes)
Agent/TCP set timestamps_ true
Agent/TCP set ts_resetRTO_ true
Agent/TCP set minrto_ $opt(rto_min_s)
Agent/TCP set maxrto_ 64
Agent/TCP set overhead_ 0
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCPSink/Sack1/DelAck set interval_ $opt(delayed_ack_ms)ms
DelayLink set avoidReordering_ 1

set ns [new Simulator]
set server [$ns node]
set router [$ns node]
set mobile [$ns node]
$ns duplex-link $server $router $opt(access_rate_bps) $opt(access_delay_s) DropTail
$ns simplex-link $router $mobile $opt(rate_bps) $opt(delay_s) DropTail
$ns simplex-link $mobile $router $opt(up_bps) $opt(delay_s) DropTail
foreach {a b} [list $server $router $router $server $mobile $router] { $ns queue-limit $a $b 100000 }
$ns queue-limit $router $mobile $opt(limit)
set tcp [new Agent/TCP/Sack1]
set sink [new Agent/TCPSink/Sack1/DelAck]
$ns attach-agent $server $tcp
$ns attach-agent $mobile $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp

proc handover {} {
    global ns router mobile opt
    foreach {a b rate} [list $router $mobile $opt(then_bps) $mobile $router $opt(then_up_bps)] {
        [[$ns link $a $b] link] set bandwidth_ $rate
        [[$ns link $a $b] link] set delay_ $opt(then_delay_s)
    }
    [[$ns link $router $mobile] queue] set limit_ $opt(then_limit)
}

$ns trace-queue $router $mobile [open $opt(trace) w]
$ns at $opt(start_s) "$ftp start"
$ns at $opt(handover_s) handover
$ns at $opt(duration_s) "exit 0"
$ns run
