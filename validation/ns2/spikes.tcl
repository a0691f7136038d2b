# One transfer over a bottleneck with delay spikes in ns-2, for comparison with Crosswind.
#
#   ns spikes.tcl key=value ...
#
# Keys come from spikes.py; none has a default here. The spikes are listed (start and length of each), so both simulators
# stop the link at the same moments. Both directions are stopped together.

foreach word $argv {
    set at [string first = $word]
    set opt([string range $word 0 [expr {$at - 1}]]) [string range $word [expr {$at + 1}] end]
}

Agent/TCP set window_ $opt(window)
Agent/TCP set packetSize_ $opt(packet_bytes)
Agent/TCP set timestamps_ true
Agent/TCP set ts_resetRTO_ $opt(reset_backoff)
Agent/TCP set minrto_ $opt(rto_min_s)
Agent/TCP set maxrto_ 64
Agent/TCP set overhead_ 0
Agent/TCP set frto_enabled_ $opt(frto)
Agent/TCP set sfrto_enabled_ $opt(sfrto)
Agent/TCP set spurious_response_ $opt(response)
Agent/TCP/Sack1 set partial_ack_ $opt(partial_ack)
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCPSink/Sack1/DelAck set interval_ $opt(delayed_ack_ms)ms

Agent/TCP instproc done {} {
    global ns finished
    set finished [$ns now]
    report
}

proc report {} {
    global finished tcp monitor
    puts "done_s $finished"
    puts "sent [$tcp set ndatapack_]"
    puts "resent [$tcp set nrexmitpack_]"
    puts "timeouts [$tcp set nrexmit_]"
    puts "drops [$monitor set pdrops_]"
    exit 0
}

set ns [new Simulator]
set finished -1
set sender [$ns node]
set near [$ns node]
set far [$ns node]
set receiver [$ns node]
$ns duplex-link $sender $near $opt(access_rate_bps) $opt(access_delay_s) DropTail
$ns duplex-link $near $far $opt(rate_bps) $opt(delay_s) DropTail
$ns duplex-link $far $receiver $opt(access_rate_bps) $opt(access_delay_s) DropTail
foreach {a b} [list $sender $near $near $sender $far $receiver $receiver $far $far $near] { $ns queue-limit $a $b 100000 }
$ns queue-limit $near $far $opt(limit)
set monitor [$ns monitor-queue $near $far ""]
set down [new Delayer]
set up [new Delayer]
$ns insert-delayer $near $far $down
$ns insert-delayer $far $near $up
foreach {start length} $opt(spikes) {
    foreach d [list $down $up] {
        $ns at $start "$d block"
        $ns at [expr {$start + $length}] "$d unblock"
    }
}
set tcp [new Agent/TCP/$opt(sender)]
set sink [new Agent/TCPSink/Sack1/DelAck]
$ns attach-agent $sender $tcp
$ns attach-agent $receiver $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
if {$opt(trace) != ""} { $ns trace-queue $sender $near [open $opt(trace) w] }
if {$opt(cbr_bps) > 0} {
    set udp [new Agent/UDP]
    set null [new Agent/Null]
    $ns attach-agent $near $udp
    $ns attach-agent $far $null
    $ns connect $udp $null
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $opt(cbr_packet_bytes)
    $cbr set rate_ $opt(cbr_bps)
    $udp set packetSize_ $opt(cbr_packet_bytes)
    $cbr attach-agent $udp
    $ns at 0.0 "$cbr start"
}
$ns at $opt(start_s) "$ftp produce $opt(segments)"
$ns at $opt(duration_s) report
$ns run
